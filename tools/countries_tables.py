"""What GeoNames lacks or has otherwise, written by hand: the tables of `build_countries.py`."""

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
