from playwright.sync_api import Page
import pytest
from tests.browser.conftest import LOOKS, DESKTOP, PHONE

@pytest.mark.parametrize(("size","scheme"), [(DESKTOP,"dark"),(PHONE,"light"),(DESKTOP,"light")])
def test_shot(page: Page, size, scheme):
    page.set_viewport_size({"width":size[0],"height":size[1]})
    page.emulate_media(color_scheme=scheme)
    page.goto("/reference/releases/")
    page.screenshot(path=f"/tmp/rel/ref-{size[0]}-{scheme}.png")
    page.goto("/compare/?left=scenario:example-shop&right=scenario:example-shop&leftScheduler=v1.35&rightScheduler=v1.37")
    page.wait_for_timeout(4000)
    print(page.url, page.title(), page.locator("h2").all_inner_texts())
    page.screenshot(path=f"/tmp/rel/cmp-{size[0]}-{scheme}.png", full_page=True)
