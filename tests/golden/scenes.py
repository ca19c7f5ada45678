"""Every scene by name, the longest first."""

from tests.golden import fresh, stored

SCENES = {scene.name: scene for scene in (*fresh.SCENES, *stored.scenes())}


def answers_of(name: str) -> dict[str, str]:
    """Return the answers of one scene."""
    return SCENES[name].answers()
