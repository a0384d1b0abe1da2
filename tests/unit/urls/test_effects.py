"""Inputs 12 and 119: what does something when it is fetched, and what only speaks of it."""

from datetime import date

import pytest

from headwater.urls.canonical import canonicalise
from headwater.urls.effects import has_effects
from headwater.urls.traps import Trap, trap_in

TODAY = date(2026, 3, 1)

ACTING = [
    "/logout",
    "/user/Logout/",
    "/LOGOUT.PHP?red_url=index.html",
    "/api/v1/auth/logout",
    "/%6Cogout",
    "/account/sign-out",
    "/posts/12/delete",
    "/posts/12/delete.html",
    "/comment/99/remove",
    "/newsletter/unsubscribe?token=abc",
    "/unsubscribe/7f3a",
    "/cart/add/17",
    "/basket/remove",
    "/add-to-cart/17",
    "/?add-to-cart=17",
    "/shop/?a=1&add_to_wishlist=5",
    "/?wc-ajax=add_to_cart",
    "/?action=delete&id=4",
    "/?action=delete_post",
    "/wp-login.php?action=logout&_wpnonce=d1a428fd78",
    "/wp-login.php?action=register",
    "/index.php?option=com_users&task=user.logout",
    "/login.php?do=logout",
    "/wiki?do=edit",
    "/start?do=subscribe",
    "/?op=vote&id=3",
    "/items/4?_method=delete",
    "/?logout=1",
    "/mod/forum/post.php?id=4&sesskey=abc",
    "/blog/my-post/delete",
    "/news/delete",
]

SPEAKING = [
    "/",
    "/news/how-to-delete-your-account",
    "/2024/05/cart-wheel",
    "/2024/05/12/delete/",
    "/tag/unsubscribe",
    "/delete-your-account-now",
    "/logouts-explained",
    "/commands/unsubscribe/",
    "/reference/cli/docker/logout/",
    "/docs/rest/delete",
    "/en/docs/v2/methods/remove.html",
    "/shop/cart",
    "/basketball/remove-the-cap",
    "/wishlist",
    "/life/add-to-cart-how-we-shop",
    "/?q=logout",
    "/search?q=delete+account",
    "/?title=logout",
    "/?p=123",
    "/?action=view&id=3",
    "/?action=fullnews&id=12",
    "/index.php?action=article&id=9",
    "/?do=show",
    "/?do=updates",
    "/?task=view",
    "/?op=printable",
    "/?cmd=article",
    "/?act=story&s=77",
    "/?a=delete",
    "/story.html?action=click&module=News",
    "/2019/04/12/logout-the-band",
    "/sports/like-a-champion?like_count=4",
]


@pytest.mark.parametrize("target", ACTING)
def test_an_address_that_says_what_it_does_has_effects(target: str) -> None:
    url = canonicalise("https://h" + target)
    assert has_effects(url)
    assert trap_in(url, today=TODAY, is_told=True) is Trap.HAS_EFFECTS
    assert trap_in(url, today=TODAY) is Trap.HAS_EFFECTS


@pytest.mark.parametrize("target", SPEAKING)
def test_an_article_about_a_deed_has_none(target: str) -> None:
    url = canonicalise("https://h" + target)
    assert not has_effects(url)
    assert trap_in(url, today=TODAY, is_told=True) is None


@pytest.mark.parametrize(
    "target",
    [
        "/SharedDocs/Kurzmeldungen/info.html;jsessionid=B01BDCE4530E.2_cid390",
        "/lookup?publication_year=1978&pages=840",
        "/?" + "&".join(f"f{n}=1" for n in range(13)),
    ],
)
def test_a_page_that_a_publisher_lists_is_no_trap_by_what_only_multiplies_links(target: str) -> None:
    url = canonicalise("https://h" + target)
    assert trap_in(url, today=TODAY) is not None
    assert trap_in(url, today=TODAY, is_told=True) is None
