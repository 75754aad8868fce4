"""Where the work is done: every engine has one function, collect(make, job, batches), and knows nothing of its meaning.

make(job, batch) is a function of a module; job and batches are plain data (text, numbers, lists, arrays), and so is
what comes back. Results arrive in any order, each batch's once, or an error does. An engine that is given a function to
add with may add results where they are made: None then stands for what a later result holds.
"""
