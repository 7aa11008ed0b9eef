"""Stems of words, after the examples that Porter published with his rules."""

import pytest

from memdir.hot.words import stem
from tests.helpers.tables import cases

# A word and what all steps together make of it; grouped by the step that it is the example of.
PORTER = """
caresses caress  ponies poni  ties ti  caress caress  cats cat
feed feed  agreed agre  plastered plaster  bled bled  motoring motor  sing sing
conflated conflat  troubled troubl  sized size  hopping hop  tanned tan  falling fall
hissing hiss  fizzed fizz  failing fail  filing file  happy happi  sky sky
relational relat  conditional condit  rational ration  valenci valenc  hesitanci hesit
digitizer digit  conformabli conform  radicalli radic  differentli differ  vileli vile
analogousli analog  vietnamization vietnam  predication predic  operator oper  feudalism feudal
decisiveness decis  hopefulness hope  callousness callous  formaliti formal  sensitiviti sensit
sensibiliti sensibl  triplicate triplic  formative form  formalize formal  electriciti electr
electrical electr  hopeful hope  goodness good  revival reviv  allowance allow
inference infer  airliner airlin  gyroscopic gyroscop  adjustable adjust  defensible defens
irritant irrit  replacement replac  adjustment adjust  dependent depend  adoption adopt
communism commun  activate activ  angulariti angular  homologous homolog  effective effect
bowdlerize bowdler  probate probat  rate rate  cease ceas  controll control  roll roll
generalizations gener  oscillators oscil
"""


@pytest.mark.parametrize(
    ("word", "expected"),
    [line.split() for row in PORTER.strip().split("\n") for line in row.split("  ")],
)
def test_a_published_example_has_its_stem(word, expected):
    assert stem(word) == expected


@cases("forms")
def test_forms_of_one_word_have_one_stem(forms):
    assert len({stem(form) for form in forms.split()}) == 1
