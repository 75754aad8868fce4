"""A real browser: Debian's chromium and chromium-driver, driven by selenium."""

import os
import shutil

import pytest

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
    "--force-device-scale-factor=1",
)  # fmt: skip


def missing():
    """Why there is no browser here, or None."""
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "selenium is not installed: pip install 'tercet[dev]'"
    for program in ("chromium", "chromedriver"):
        if shutil.which(program) is None:
            return f"{program} is not installed: apt-get install chromium chromium-driver"
    return None


def with_plain_spaces(found):
    """What a script returned, spaces at which no line ends turned into others."""
    if isinstance(found, list):
        return [with_plain_spaces(one) for one in found]
    if isinstance(found, dict):
        return {key: with_plain_spaces(one) for key, one in found.items()}
    return found.replace("\u00a0", " ") if isinstance(found, str) else found


def opened():
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})

    class Chrome(webdriver.Chrome):
        """Texts as they are read: a space at which no line ends is a space."""

        def execute_script(self, script, *arguments):
            return with_plain_spaces(super().execute_script(script, *arguments))

        def execute_async_script(self, script, *arguments):
            return with_plain_spaces(super().execute_async_script(script, *arguments))

    return Chrome(options=options, service=Service(shutil.which("chromedriver")))


@pytest.fixture(scope="session")
def chromium():
    reason = missing()
    if reason is not None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"There is no browser to test the page in: {reason}.")
        pytest.skip(f"There is no browser to test the page in: {reason}.")
    driver = opened()
    yield driver
    driver.quit()


@pytest.fixture
def browser(chromium):
    """The browser with a light, wide window and empty logs; after the test its console must be silent."""
    size(chromium, 1280, 900)
    chromium.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"media": "", "features": [{"name": "prefers-color-scheme", "value": "light"}]}
    )
    chromium.get("about:blank")
    for log in ("browser", "performance"):
        chromium.get_log(log)
    yield chromium
    assert [entry["message"] for entry in chromium.get_log("browser")] == []


@pytest.fixture
def type_over(browser):
    """Types as a hand does: over what stands in the box of this id or label, which keeps the focus."""
    from selenium.webdriver import Keys
    from selenium.webdriver.common.by import By

    def over(box, text):
        node = browser.find_element(By.CSS_SELECTOR, f"[id='{box}'], [aria-label='{box}']")
        node.send_keys(Keys.CONTROL, "a")
        node.send_keys(text)
        return node

    return over


@pytest.fixture
def window(browser):
    """Sets the window's size."""
    return lambda width, height: size(browser, width, height)


def size(driver, width, height):
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
