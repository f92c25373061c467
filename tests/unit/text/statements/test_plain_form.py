import pytest

from memtree.text.statements.grammar import plain


@pytest.mark.parametrize(
    ("lower", "form"),
    [
        ("i don't own a tv", "i own a tv"),
        ("i'm not religious", "i'm religious"),
        ("i never had kids", "i have kids"),
        ("i haven't got a dishwasher", "i have got a dishwasher"),
        ("my flat isn't near a park", "my flat is near a park"),
        ("our kids aren't vegan", "our kids are vegan"),
        ("we don't use docker", "i use docker"),
        ("we've been to rome", "i have been to rome"),
        ("my wife ingrid and i live in graz", "i live in graz"),
        ("me and my partner jo don't eat pork", "i eat pork"),
        ("my son tim and my daughter ann are vegan", "i am vegan"),
        ("nobody in my family eats pork", "i eat pork"),
        ("both of my brothers have asthma", "my brothers have asthma"),
        ("i live in graz", "i live in graz"),
    ],
)
def test_the_plain_form(lower, form):
    assert plain(lower) == form
