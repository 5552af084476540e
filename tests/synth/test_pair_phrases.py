from __future__ import annotations

import pytest

from openreward.synth.pair_phrases import declines, reveals_its_text, tells_its_text


@pytest.mark.parametrize(
    "query",
    [
        "Based on the facts provided, what sets the mill apart?",
        "What does this paper propose about mills?",
        "What is the main finding of the study?",
        "What did the authors find about the mill?",
        "Why did the authors of this study measure the ebb?",
        "Summarize the given text about the mill.",
        "Explain the mill mentioned in the article.",
        "Using the information above, explain the mill.",
        "How, in the above passage, does the mill work?",
        "How does the abstract describe the mill?",
        "What do these documents say of the mill?",
        "As described\nin the\ttext, how does it work?",
        "Which gates are described here, and why?",
        "What information is provided about the mill?",
        "Can you explain the content above?",
        "What are the results of this research?",
        "From the passage, how does the mill work?",
        "As per the document, how does the mill work?",
        "Summarise the main points of the passage.",
        "Compare the material between the lines that begin with `explosion:`.",
        "What do the lines beginning with ### say of the mill?",
        "Why does the material focus on the mill?",
    ],
)
def test_queries_that_speak_of_their_text_are_revealing(query: str) -> None:
    assert reveals_its_text(query) is not None


@pytest.mark.parametrize(
    "query",
    [
        "How do historians use documents?",
        "What is the study of insects called, and who began it?",
        "How is paper made, and how was the paper industry changed by it?",
        "How are these materials used in bridges?",
        "Who were the authors of the Federalist Papers?",
        "What did the authors Neil Ames and Ada Brook write together?",
        "Which article of the treaty deals with fishing?",
        "How do text editors store a document in memory?",
        "What information did the spy give, and why was he mentioned in the Bible?",
        "How can we find the area of a circle and show that it is right?",
        "What context shaped abstract art?",
        "What did the authors of the constitution want?",
        "What is said in 'A study of tides in the Sund'?",
        "How does the paper wasp build its nest?",
        "What does the study of rocks show about the past?",
        "How did the Warren report describe the facts that witnesses gave?",
        "In this context, how do mills and dams differ?",
        "Which material strengthens the dam, and what is the material made of?",
        "Which railway lines begin at the mill?",
    ],
)
def test_queries_about_texts_as_such_are_not(query: str) -> None:
    assert reveals_its_text(query) is None


@pytest.mark.parametrize(
    "text",
    [
        "According to the document, it turns.",
        "It turns, as mentioned in the text.",
        "The passage states that it turns.",
        "The authors conclude that it turns.",
        "This paper presents a mill.",
        "As an AI language model, I think it turns.",
        "I am an AI, and it turns.",
        "It turns, but I don't have real-time data.",
        "Without access to the document it is hard to say.",
        "Without more context, it is hard to say.",
        "The context does not mention its wheels.",
        "There is no information about its wheels.",
        "We propose a mill that turns.",
        "We further compared two mills.",
        "Our results indicate that it turns.",
        "The ebb, studied in the paper, turns it.",
        "As per the article it turns.",
    ],
)
def test_answers_that_show_what_their_writer_had_tell(text: str) -> None:
    assert tells_its_text(text) is not None


@pytest.mark.parametrize(
    "text",
    [
        "The constitution is a document that states rights, and papers were signed.",
        "According to the laws of physics it turns.",
        "According to the study of bones, it was old.",
        "The following materials are needed: wood and iron.",
        "Without the wheels it does not turn.",
        "AI is used in mills.",
        "The bank provided context to investors and sources of money.",
        "Scholars study texts, and studies show that it turns.",
        "Ink is washed from the paper in this mill.",
        "The study of bones shows its age.",
        "The king signed the document in the presence of the author of the law.",
        "We know our world by what we have compared.",
    ],
)
def test_answers_that_speak_of_texts_otherwise_do_not(text: str) -> None:
    assert tells_its_text(text) is None


def test_an_answer_declines_at_its_beginning_only() -> None:
    assert declines("I don't have information about this mill.") == "I don't have"
    assert declines("  The document does not\nprovide it.") == "The document does not provide"
    assert declines("It turns. I don't have more.") is None
