"""Leave the rest of a memory when one of the things that it says is forgotten."""

from __future__ import annotations

import pytest

from memtree.memories.forgetting import rest

NURSE = "User lives in Graz and works as a nurse"
THREE = "User doesn't eat meat, lives in Graz but works in Vienna"


@pytest.mark.parametrize(
    ("about", "text", "left"),
    [
        ("I live in Graz", NURSE, "User works as a nurse"),
        ("I work as a nurse", NURSE, "User lives in Graz"),
        ("I don't eat meat", THREE, "User lives in Graz but works in Vienna"),
        ("I live in Graz", THREE, "User doesn't eat meat but works in Vienna"),
        ("I work in Vienna", THREE, "User doesn't eat meat, lives in Graz"),
        (
            "ich in Graz wohne",
            "Nutzer wohnt in Graz und arbeitet als Koch",
            "Nutzer arbeitet als Koch",
        ),
        ("vivo en Graz", "El usuario vive en Graz y no come carne", "El usuario no come carne"),
        (
            "j'habite à Graz",
            "L'utilisateur habite à Graz et n'a pas de chien",
            "L'utilisateur n'a pas de chien",
        ),
        ("abito a Graz", "L'utente abita a Graz e lavora in banca", "L'utente lavora in banca"),
        ("moro em Graz", "O usuário mora em Graz e tem um gato", "O usuário tem um gato"),
        (
            "я живу в Граце",
            "Пользователь живёт в Граце и не ест мясо",
            "Пользователь не ест мясо",
        ),
        ("我住在格拉茨", "用户住在格拉茨，是护士", "用户是护士"),
        ("my dog", "User's dog is called Rex and sleeps a lot", ""),
        ("my dog Rex", "User's dog is called Rex and sleeps a lot", "User's dog sleeps a lot"),
        ("my children", "User's children are Max and Theo", ""),
        ("I live in Graz and work as a nurse", NURSE, ""),
        ("I like tea and coffee", "User likes tea and coffee", ""),
        ("I live in Graz", "User lives in Graz, near the station", ""),
    ],
)
def test_what_else_a_memory_says_is_left(about: str, text: str, left: str) -> None:
    assert rest(about, text) == left


@pytest.mark.parametrize(
    ("about", "text"),
    [
        ("I like tea", "User likes tea and coffee"),
        ("I'm vegan", "User is vegan and left-handed"),
        ("I like walks", "User likes walks and plays by Goethe"),
        ("I live in Graz", "User lives in Graz and works there"),
        ("I live in Graz", "User lives in Graz. The user's wife works in Linz."),
        ("I live in Graz", "User lives in Graz and the user's wife works in Linz"),
        ("ich in Graz wohne", "Nutzer wohnt in Graz und Linz"),
        ("大阪に住んでいる", "ユーザーは大阪に住んでいて、看護師です"),
    ],
)
def test_what_has_no_clear_joint_is_not_parted(about: str, text: str) -> None:
    assert rest(about, text) is None
