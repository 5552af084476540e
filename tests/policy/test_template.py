import pytest

from openreward.errors import PolicyError
from openreward.policy.template import ChatTemplate, TemplateRefusal
from openreward.types import Message, ToolSpec

USER = Message(role="user", content="café <b> & 'q'")
TOOL = ToolSpec(
    name="find", description="Finds <é>", parameters={"type": "object", "properties": {}}
)


def test_blocks_are_trimmed_as_transformers_trims_them() -> None:
    source = (
        "{% for m in messages %}\n  {% if true %}\n{{ m.content }}\n  {% endif %}\n{% endfor %}"
    )
    assert ChatTemplate(source).render([USER]) == "café <b> & 'q'\n"


def test_tojson_escapes_neither_html_nor_unicode_and_keeps_the_order_of_keys() -> None:
    text = ChatTemplate("{{ tools[0] | tojson }}").render([USER], [TOOL])
    assert text == (
        '{"type": "function", "function": {"name": "find", "description": "Finds <é>", '
        '"parameters": {"type": "object", "properties": {}}}}'
    )


def test_tojson_takes_an_indent() -> None:
    assert ChatTemplate("{{ {'a': 1} | tojson(indent=2) }}").render([USER]) == '{\n  "a": 1\n}'


def test_without_tools_a_template_sees_none() -> None:
    assert ChatTemplate("{{ 'yes' if tools is none else 'no' }}").render([USER]) == "yes"


def test_loop_controls_and_special_tokens_and_the_generation_prompt_are_there() -> None:
    source = (
        "{{ bos_token }}{% for m in messages %}{% if loop.index > 1 %}{% break %}{% endif %}"
        "{{ m['role'] }}{{ eos_token }}{% endfor %}{% if add_generation_prompt %}>{% endif %}"
    )
    template = ChatTemplate(source, bos="<s>", eos="</s>")
    assert template.render([USER, USER]) == "<s>user</s>>"
    assert template.render([USER, USER], generation=False) == "<s>user</s>"


def test_strftime_now_gives_a_date() -> None:
    assert ChatTemplate("{{ strftime_now('%Y') }}").render([USER]).isdigit()


def test_a_refusal_of_the_template_carries_its_own_words() -> None:
    with pytest.raises(TemplateRefusal, match="no system role here"):
        ChatTemplate("{{ raise_exception('no system role here') }}").render([USER])


@pytest.mark.parametrize("source", ["{{ messages[9].content }}", "{{ 'a' + 1 }}", "{{ 1 / 0 }}"])
def test_an_expression_that_fails_is_a_refusal(source: str) -> None:
    with pytest.raises(TemplateRefusal):
        ChatTemplate(source).render([USER])


def test_the_sandbox_keeps_python_out_of_reach() -> None:
    with pytest.raises(TemplateRefusal):
        ChatTemplate("{{ messages.__class__.__mro__ }}{{ ''.__class__.mro() }}").render([USER])
    with pytest.raises(TemplateRefusal):
        ChatTemplate("{{ messages.append(1) }}").render([USER])


def test_a_template_that_is_not_jinja_names_the_remedy() -> None:
    with pytest.raises(PolicyError, match="not valid Jinja.*use --chat") as caught:
        ChatTemplate("{% if %}")
    assert caught.value.fault == "bad_response"
