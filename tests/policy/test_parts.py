from openreward.policy.parts import Wheel


def test_a_wheel_is_stored_under_its_requirement() -> None:
    assert Wheel("a-b==1.0", "0", "m").stored == "a-b-1.0.whl"
