"""Browsers for the tests of pages; where there is no Chromium these are left out."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def driver():
    pytest.importorskip("httpx", reason="install the extra serve")
    from tests.core.serve.browser import CHROMIUM, DRIVER, Driver

    if not (CHROMIUM and DRIVER):
        pytest.skip("no chromium with its chromedriver")
    process = Driver()
    yield process
    process.close()


@pytest.fixture
def browsers(driver, tmp_path):
    """Open browsers; in the end none has reached for anything beyond this machine."""
    from tests.core.serve.browser import Browser

    opened = []

    def make(**more):
        folder = tmp_path / f"browser{len(opened)}"
        folder.mkdir()
        opened.append(Browser(driver, folder, **more))
        return opened[-1]

    yield make
    for each in opened:
        places = each.close()
        assert places or not each.served  # or its log says nothing
        assert all(place.startswith("127.0.0.1:") for place in places), places
