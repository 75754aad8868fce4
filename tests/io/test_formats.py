"""Every trial format on a dozen trials whose error rates were worked out by hand."""

from pathlib import Path

import pytest

import tercet as tc
from tercet.io import read

# The first dozen, by hand. Targets: 3, 2.5, 2, 1, 0.5, -1; non-targets: 1.5, 0, -0.5, -2, -2.5, -3.
#   accept > 1.5: misses 1, 0.5, -1 = 3/6, no false alarm          DCF = 3/6 + 0   = 1/2
#   accept > 0:   misses -1        = 1/6, false alarm 1.5   = 1/6  DCF = 1/6 + 1/6 = 1/3   <- the least
#   accept > -0.5: misses -1       = 1/6, false alarms 1.5, 0 = 2/6  DCF = 1/2
#   accept > -2:  no miss, false alarms 1.5, 0, -0.5 = 3/6         DCF = 0 + 3/6   = 1/2
# At prior 1/2 and costs 1, DCF = FNR + FPR. The point (FPR, FNR) = (1/6, 1/6) lies below the chord from (1/2, 0)
# to (0, 1/2), so it is a vertex of the hull, on the diagonal: EER = 1/6.
FIRST = [
    ("m1", "t1", 1, "3.0"), ("m1", "t2", 0, "-2.5"), ("m1", "t3", 1, "-1"), ("m2", "t1", 0, "1.5"),
    ("m2", "t2", 1, "2.5"), ("m2", "t3", 0, "-3e0"), ("m3", "t1", 1, "0.5"), ("m3", "t2", 0, "0"),
    ("m3", "t3", 1, "2.0"), ("m4", "t1", 0, "-0.5"), ("m4", "t2", 1, "1.0"), ("m4", "t3", 0, "-2.0"),
]  # fmt: skip
FIRST_ANSWER = (1 / 6, 1 / 3)

# The second dozen, by hand. Targets: 2, 1, 0.5, -0.5; non-targets: 1.5, 0.2, 0, -1, -1.5, -2, -2.5, -3.
#   accept > 1.5: FNR 3/4, FPR 0                    DCF = 3/4
#   accept > 0.2: FNR 1/4 (-0.5), FPR 1/8 (1.5)     DCF = 3/8   <- the least
#   accept > 0:   FNR 1/4, FPR 2/8                  DCF = 1/2
#   accept > -1:  FNR 0, FPR 3/8                    DCF = 3/8   <- as small
# The hull's segment from (FPR, FNR) = (3/8, 0) to (1/8, 1/4) has slope -1: FNR = 3/8 - FPR, equal at EER = 3/16.
SECOND = [
    ("a", "u01", 1, "2"), ("b", "u02", 0, "1.5"), ("a", "u03", 0, "0.2"), ("b", "u04", 1, "1"),
    ("a", "u05", 0, "0"), ("b", "u06", 0, "-1"), ("a", "u07", 1, ".5"), ("b", "u08", 0, "-1.5"),
    ("a", "u09", 0, "-2"), ("b", "u10", 1, "-0.5"), ("a", "u11", 0, "-2.5"), ("b", "u12", 0, "-3"),
]  # fmt: skip
SECOND_ANSWER = (3 / 16, 3 / 8)

WORD = {0: "nontarget", 1: "target"}
SPOOF = {0: "spoof", 1: "bonafide"}


def lines(rows, template, order=None):
    return "".join(
        template.format(m=m, t=t, label=label, word=WORD[label], spoof=SPOOF[label], score=score) + "\n"
        for m, t, label, score in (rows if order is None else sorted(rows, key=order))
    )


def by_score(row):
    return float(row[3])


def answer(trials):
    result = tc.evaluate(trials, [(0.5, 1, 1)])
    return pytest.approx((result.eer.value, result.applications[0].min_dcf), abs=1e-12)


# name: (dozen, scores, key or None, the format's name, file name of the scores, and of the key)
LISTS = {
    "kaldi": (1, "{m} {t} {score}", "{m} {t} {word}"),
    "voxceleb": (1, "{m}/a.wav {t}/b.wav {score}", "{label} {m}/a.wav {t}/b.wav"),
    "bosaris": (1, "{m} {t} {score}", "{m} {t} {word}"),
    "asvspoof": (2, "{t} {score}", "{m} {t} - - {spoof}"),
}


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("named", [True, False], ids=["named", "sniffed"])
def test_a_score_list_joined_with_its_key_gives_the_rates_worked_out_by_hand(tmp_path: Path, name: str, named: bool):
    dozen, scores, key = LISTS[name]
    rows, right = (FIRST, FIRST_ANSWER) if dozen == 1 else (SECOND, SECOND_ANSWER)
    (tmp_path / "s.txt").write_text(lines(rows, scores))
    (tmp_path / "k.txt").write_text(lines(rows, key, by_score))  # in another order
    trials = read(tmp_path / "s.txt", key=tmp_path / "k.txt", format=name if named else None)
    assert right == answer(trials)
    assert trials.scores.tolist() == [float(row[3]) for row in rows]  # in the order of the scores
    assert trials.labels.tolist() == [bool(row[2]) for row in rows]


@pytest.mark.parametrize("side", ["\ta", ""])
@pytest.mark.parametrize("segment", ["segmentid", "segment"])
@pytest.mark.parametrize("suffix", ["tsv", "txt"])
def test_nist_sre(tmp_path: Path, side: str, segment: str, suffix: str):
    head = f"modelid\t{segment}" + ("\tside" if side else "")
    scores, key = tmp_path / f"s.{suffix}", tmp_path / f"k.{suffix}"
    scores.write_text(head + "\tLLR\n" + lines(FIRST, "{m}\t{t}.sph" + side + "\t{score}"))
    key.write_text(head + "\ttargettype\tgender\n" + lines(FIRST, "{m}\t{t}.sph" + side + "\t{word}\tf", by_score))
    assert answer(read(scores, key=key)) == FIRST_ANSWER
    grouped = read(scores, key=key, format="sre", group_columns=["gender"], keep_ids=True)
    assert answer(grouped) == FIRST_ANSWER
    assert set(grouped.groups["gender"]) == {"f"}
    assert grouped.ids[0] == ("m1", "t1.sph", *side.split())


def test_nist_sre_with_a_side_in_one_file_only(tmp_path: Path):
    (tmp_path / "s.tsv").write_text("modelid\tsegmentid\tside\tLLR\n" + lines(FIRST, "{m}\t{t}\ta\t{score}"))
    (tmp_path / "k.tsv").write_text("modelid\tsegmentid\ttargettype\n" + lines(FIRST, "{m}\t{t}\t{word}"))
    assert answer(read(tmp_path / "s.tsv", key=tmp_path / "k.tsv")) == FIRST_ANSWER


@pytest.mark.parametrize("named", [True, False])
def test_asvspoof_scores_with_their_label(tmp_path: Path, named: bool):
    (tmp_path / "cm.txt").write_text(lines(SECOND, "{t} - {spoof} {score}"))
    trials = read(tmp_path / "cm.txt", format="asvspoof" if named else None)
    assert answer(trials) == SECOND_ANSWER
    assert trials.classes == ("spoof", "bonafide")


def test_asvspoof_2021_key_with_the_label_before_the_last_column(tmp_path: Path):
    (tmp_path / "s.txt").write_text(lines(SECOND, "{t} {score}"))
    (tmp_path / "k.txt").write_text(lines(SECOND, "{m} {t} alaw ita_tx A07 {spoof} notrim eval"))
    assert answer(read(tmp_path / "s.txt", key=tmp_path / "k.txt")) == SECOND_ANSWER


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("model", ["", "model_{m} "])
def test_bob_is_a_target_where_claimed_and_real_identity_agree(tmp_path: Path, named: bool, model: str):
    text = "".join(
        f"c{m} {model.format(m=m)}{f'c{m}' if label else 'other'} data/{t} {score}\n" for m, t, label, score in SECOND
    )
    (tmp_path / "scores-dev").write_text(text)
    trials = read(tmp_path / "scores-dev", format="bob" if named else None, keep_ids=True)
    assert answer(trials) == SECOND_ANSWER
    assert trials.ids[0] == ("ca", *model.format(m="a").split(), "data/u01")


def test_fields_apart_by_several_spaces_and_tabs(tmp_path: Path):
    (tmp_path / "s.txt").write_text("\n" + lines(FIRST, " {m}  {t}\t{score} "))
    (tmp_path / "k.txt").write_bytes(lines(FIRST, "{m}\t{t}\t{word}").replace("\n", "\r\n").encode())
    assert answer(read(tmp_path / "s.txt", key=tmp_path / "k.txt")) == FIRST_ANSWER


def test_line_ends_of_two_kinds_in_one_file(tmp_path: Path):
    text = lines(FIRST, "{score},{label}").replace("\n", "\r\n", 3)
    (tmp_path / "s.csv").write_bytes(b"score,label\n" + text.encode())
    assert answer(read(tmp_path / "s.csv")) == FIRST_ANSWER


def test_columns_by_position_and_a_separator(tmp_path: Path):
    (tmp_path / "s.dat").write_text(lines(FIRST, "{m};{t};{score};{label}"))
    names = ["enrol", "test", "llr", "truth"]
    trials = read(tmp_path / "s.dat", separator=";", columns=names, score_column="llr", label_column="truth")
    assert answer(trials) == FIRST_ANSWER
    named = read(tmp_path / "s.dat", separator=";", columns=names, score_column="llr", id_column=["enrol", "test"])
    assert named.labels is None
    assert named.ids[:2].tolist() == [("m1", "t1"), ("m1", "t2")]


def test_a_csv_joined_with_a_csv_key_by_named_ids(tmp_path: Path):
    (tmp_path / "s.csv").write_text("id,seg,score\n" + lines(FIRST, "{m},{t},{score}"))
    (tmp_path / "k.csv").write_text("label,seg,id,w,site\n" + lines(FIRST, "{label},{t},{m},2,north", by_score))
    trials = read(
        tmp_path / "s.csv", key=tmp_path / "k.csv", id_column=("id", "seg"), weight_column="w", group_columns=["site"]
    )
    assert answer(trials) == FIRST_ANSWER
    assert trials.weights.tolist() == [2.0] * 12
    assert trials.groups["site"].tolist() == ["north"] * 12
    assert trials.ids is not None


def test_labels_in_a_file_of_their_own(tmp_path: Path):
    (tmp_path / "s.csv").write_text("score\n" + lines(FIRST, "{score}"))
    for head in ("", "label\n"):
        (tmp_path / "l.csv").write_text(head + lines(FIRST, "{word}"))
        assert answer(read(tmp_path / "s.csv", labels=tmp_path / "l.csv")) == FIRST_ANSWER


def test_a_target_by_name(tmp_path: Path):
    (tmp_path / "s.csv").write_text("score,label\n" + lines(SECOND, "{score},{spoof}"))
    with pytest.raises(tc.InputError, match="name the one that is the target"):
        read(tmp_path / "s.csv")
    trials = read(tmp_path / "s.csv", target="bonafide")
    assert answer(trials) == SECOND_ANSWER
    assert trials.classes == ("spoof", "bonafide")


def test_decisions_are_counted_into_a_confusion(tmp_path: Path):
    (tmp_path / "d.csv").write_text("decision,label\n1,1\n0,1\n1,0\n0,0\n0,0\n")
    assert tc.io.read_decisions(tmp_path / "d.csv").matrix == [[2, 1], [1, 1]]
    (tmp_path / "d.txt").write_text("id,decision\na,10\nb,9\nc,9\n")
    (tmp_path / "k.csv").write_text("id,label\nc,9\na,10\nb,10\n")
    confusion = tc.io.read_decisions(tmp_path / "d.txt", key=tmp_path / "k.csv", id_column="id")
    assert confusion.classes == ("9", "10")
    assert confusion.matrix == [[1, 1], [0, 1]]


def test_one_column_a_class(tmp_path: Path):
    (tmp_path / "m.csv").write_text("id,label,NA,None,007\na,007,-1,-2,-0.5\nb,NA,0,-3,-4\nc,None,-9,-1,-2\n")
    trials = read(tmp_path / "m.csv", meaning="log-likelihoods", id_column="id")
    assert trials.classes == ("NA", "None", "007")
    assert trials.labels.tolist() == [2, 0, 1]
    assert trials.scores.tolist() == [[-1, -2, -0.5], [0, -3, -4], [-9, -1, -2]]
    half = [0.5, 0.5]
    two = read(tmp_path / "m.csv", meaning="logits", trained_prior=half, class_columns=["None", "NA"], labelled=False)
    assert two.classes == ("None", "NA")


@pytest.mark.parametrize("null", ["null", "NULL"])  # both in one file would be taken for a slip
def test_class_names_stay_text(tmp_path: Path, null: str):
    words = ["NA", "None", null, "nan", "007", "7", "true", "1e5"]
    (tmp_path / "c.csv").write_text("score,label\n" + "".join(f"1,{one}\n" for one in words))
    for one in words:
        trials = read(tmp_path / "c.csv", target=one)
        assert trials.labels.sum() == 1
        assert trials.classes[1] == one


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1 0.3\n0 0.2\n", "label or an id"),
        ("a b 0.3 0.2\nc d 0.1 0.3\n", "which is the score"),
        ("a b c\nd e f\n", "no known format"),
        ("a b 0.1\nc 0.2\n", "line 2 has 2 fields"),
        ("a b c d e f 0.1\n", "no known format"),
        ("a b 1 0.25\nc d 0 0.5\n", "label or an id"),
    ],
)
def test_a_list_that_fits_in_two_ways_or_none_is_refused(tmp_path: Path, text: str, reason: str):
    (tmp_path / "s.txt").write_text(text)
    with pytest.raises(tc.InputError, match=reason):
        read(tmp_path / "s.txt")


def test_a_key_whose_label_may_be_first_or_last_is_refused(tmp_path: Path):
    (tmp_path / "t.txt").write_text("x 1 1.5\n1 0 2\n")
    (tmp_path / "k.txt").write_text("0 1 1\n1 0 0\n")
    with pytest.raises(tc.InputError, match="both its first and its last"):
        read(tmp_path / "t.txt", key=tmp_path / "k.txt", format="kaldi")
