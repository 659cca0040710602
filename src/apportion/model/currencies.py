"""ISO 4217: the currencies a bill can be in, and how many decimal places a statement in each has.

Carbon and energy are carried beside money, as cost lines of their own: each in a unit that stands where a currency does. Currencies are never
added and these are never converted, so that no gram ever meets a cent.
"""

from types import MappingProxyType

from apportion.model.money import GRAIN

_BY_PLACES = {
    0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
    2: "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY COP COU CRC "
    "CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR "
    "KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN "
    "PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS "
    "UAH USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG",
    3: "BHD IQD JOD KWD LYD OMR TND",
    4: "CLF UYW",
}
# Currencies that went into the euro or were renamed and still stand in tables of exchange rates (ISO 4217, list three).
WITHDRAWN = frozenset({"BGN", "CYP", "EEK", "HRK", "LTL", "LVL", "MTL", "ROL", "SIT", "SKK", "TRL"})
MINOR_DIGITS = MappingProxyType({code: places for places, codes in _BY_PLACES.items() for code in codes.split()})

CARBON, ENERGY = "gCO2e", "kWh"
QUANTITIES = MappingProxyType({CARBON: 0, ENERGY: 1})  # what is no money, and the decimal places it is read with
BILLABLE = (*MINOR_DIGITS, *QUANTITIES)  # what a cost line can be in
ESTIMATED = "(estimated)"  # ends the issuer of quantities that were not measured, so that they are a bill of their own


def is_money(currency: str) -> bool:
    return currency not in QUANTITIES


def is_estimated(bill: str) -> bool:
    return f"{ESTIMATED} " in bill


def grains_per_minor(currency: str) -> int:
    """Of the smallest amount that a statement in it shows."""
    return int(GRAIN // 10 ** (MINOR_DIGITS | QUANTITIES)[currency])
