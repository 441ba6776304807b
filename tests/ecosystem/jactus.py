"""Jactus: cash flows of financial contracts by ACTUS's standard."""

import jax.numpy as jnp
from jactus.contracts import create_contract
from jactus.core import ActusDateTime, ContractAttributes, ContractRole, ContractType
from jactus.observers import ConstantRiskFactorObserver


def run():
    out = {}
    redemption = {
        "principal_redemption_cycle": "3M",
        "next_principal_redemption_amount": 20_000.0,
    }
    for kind in ("PAM", "ANN", "LAM", "NAM"):
        attrs = ContractAttributes(
            contract_id="L",
            contract_type=ContractType[kind],
            contract_role=ContractRole.RPA,
            status_date=ActusDateTime(2024, 1, 1),
            initial_exchange_date=ActusDateTime(2024, 1, 15),
            maturity_date=ActusDateTime(2025, 1, 15),
            notional_principal=100_000.0,
            nominal_interest_rate=0.05,
            interest_payment_cycle="6M",
            day_count_convention="30E360",
            **({} if kind == "PAM" else redemption),
        )
        result = create_contract(attrs, ConstantRiskFactorObserver(constant_value=0.0)).simulate()
        out[kind] = jnp.stack([jnp.asarray(e.payoff, float) for e in result.events]) / 1e5
    return out
