"""jax._src.effects: classes of effects, and sets of those that are allowed in places."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from irax.extend.core import Effect as Effect
from irax.extend.core import no_effects as no_effects

Effects = set[Effect]


class EffectTypeSet:
    """A set of classes of effects. irax keeps the order of all effects, and allows them all."""

    def __init__(self) -> None:
        self._types: set[type] = set()

    def add_type(self, effect_type: type) -> None:
        """Add a class."""
        self._types.add(effect_type)

    def contains(self, eff: Any) -> bool:
        """Return True for an effect of one of the classes."""
        return any(isinstance(eff, kind) for kind in self._types)

    def filter_in(self, effects: Iterable[Any]) -> list[Any]:
        """Return the effects of these classes."""
        return [eff for eff in effects if self.contains(eff)]

    def filter_not_in(self, effects: Iterable[Any]) -> list[Any]:
        """Return the effects of other classes."""
        return [eff for eff in effects if not self.contains(eff)]


ordered_effects: EffectTypeSet = EffectTypeSet()
shardable_ordered_effects: EffectTypeSet = EffectTypeSet()
lowerable_effects: EffectTypeSet = EffectTypeSet()
control_flow_allowed_effects: EffectTypeSet = EffectTypeSet()
custom_derivatives_allowed_effects: EffectTypeSet = EffectTypeSet()
remat_allowed_effects: EffectTypeSet = EffectTypeSet()
partial_eval_kept_effects: EffectTypeSet = EffectTypeSet()
