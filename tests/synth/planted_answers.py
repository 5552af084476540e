"""Made-up documents with grounded answers in other words, to plant wrong facts in."""

from __future__ import annotations

from typing import NamedTuple


class Grounded(NamedTuple):
    """A document, a question, and an answer that says nothing that the document does not."""

    query: str
    document: str
    answer: str


GROUNDED = (
    Grounded(
        "What is known of the Ostra tide mill?",
        "The Ostra tide mill stands on the estuary of the Ostra. It was built in 1783 by the "
        "engineer Walter Brandt, who had learned his trade in Rotterdam. The mill has 14 sluice "
        "gates and could grind 320 sacks of grain in a week. Its wheels turn with the ebb, which "
        "makes it slower than a river mill but independent of rain. The mill was bought by the "
        "parish in 1906 and opened as a museum in 1931. The museum is open in summer and receives "
        "about 9,500 visitors a year. The oldest part of the building is the western hall.",
        "The tide mill on the Ostra estuary was put up in 1783 by the engineer Walter Brandt, "
        "trained in Rotterdam. It has 14 sluice gates and ground 320 sacks of grain a week. "
        "Because its wheels turn with the ebb, the mill is slower than a river mill, but it is "
        "independent of rain. The parish bought it in 1906. Since 1931 it has been a museum, and "
        "the western hall is the oldest part of the building.",
    ),
    Grounded(
        "How does the grey lanternfish of the Sund live?",
        "The grey lanternfish is a small fish of the Sund. Adults reach a length of 11 cm and "
        "live for about 4 years. It was first described by the zoologist Clara Holm in 1868 from "
        "animals caught near Copenhagen. The fish rises to the surface at night and returns to a "
        "depth of 650 m by day. Females are larger than males and lay 2,400 eggs in spring. The "
        "species is common in Denmark and in Norway. Its light organs are bright in winter, when "
        "food is scarce, and help it to find copepods.",
        "This small fish of the Sund grows to 11 cm and lives about 4 years. Clara Holm, a "
        "zoologist, described it in 1868 from animals caught near Copenhagen. By day it stays at "
        "a depth of 650 m, and at night it rises to the surface. The females are larger than the "
        "males and lay 2,400 eggs in spring. In Denmark the species is common. Its light organs "
        "help it to find copepods in winter.",
    ),
    Grounded(
        "What did the trial of the drug velarine show?",
        "The effect of velarine on sleep was tested in 184 adults at four hospitals in Finland "
        "between March 2009 and June 2011. Half of them received 25 mg of velarine and half a "
        "placebo. Sleep was longer in the treated group by 46 minutes. The drug was safe, and "
        "only 3.2% of the patients stopped taking it. Blood pressure did not change in either "
        "group. The trial was led by Maria Lindqvist of the Tervo University. The effect was "
        "higher in older patients and remained after 12 weeks.",
        "Velarine was tested for sleep in 184 adults in Finland between March 2009 and June 2011. "
        "The treated group received 25 mg, the others a placebo. Sleep was longer with the drug, "
        "by 46 minutes. It was safe, for 3.2% of the patients stopped taking it. Blood pressure "
        "did not change. Maria Lindqvist led the trial, and the effect was higher in older "
        "patients.",
    ),
    Grounded(
        "What is the Corrigan library known for?",
        "The Corrigan library is the largest private library of Ireland. It was founded in 1847 "
        "by the printer Thomas Corrigan in Dublin and moved to its present house in 1912. It "
        "holds 87,000 volumes, among them 640 manuscripts. The reading room has 56 seats and was "
        "designed by Alice Morland. The library is open to scholars, and lends books to the "
        "public. In 1958 a fire damaged the northern wing, and 1,150 volumes were lost. Since "
        "then the collection has been kept in fireproof rooms. The catalogue was printed in seven "
        "parts.",
        "The largest private library of Ireland was founded in 1847 in Dublin by the printer "
        "Thomas Corrigan. It holds 87,000 volumes and 640 manuscripts. The reading room, which "
        "has 56 seats, was designed by Alice Morland. The library is open to scholars. A fire "
        "damaged the northern wing in 1958, and 1,150 volumes were lost. The catalogue was "
        "printed in seven parts.",
    ),
    Grounded(
        "How does the Halden sampler reduce cost?",
        "The Halden sampler chooses the examples that a language model is trained on. It was "
        "proposed in 2021 and keeps 35% of the data. On nine benchmarks the accuracy of the model "
        "was higher by 2.7 points than with random choice, and training was 1.8 times faster. The "
        "sampler needs a small proxy model with 160 million parameters. It is simple and works "
        "with any optimiser. Peter Grant and his colleagues in Zurich released the code. The "
        "sampler does not improve results on translation.",
        "The sampler, proposed in 2021, keeps 35% of the training data of a language model. "
        "Accuracy was higher by 2.7 points than with random choice on nine benchmarks. Training "
        "was faster, too, by 1.8 times. It needs a proxy model with 160 million parameters. The "
        "method is simple and works with any optimiser. It does not improve translation. The code "
        "was released by Peter Grant and his colleagues in Zurich.",
    ),
    Grounded(
        "Describe the railway over the Karsk pass.",
        "The railway over the Karsk pass connects Turin with the valley of the Karsk. It was "
        "opened on 17 October 1888 after six years of work. The line is 73 km long and climbs to "
        "1,420 m. It has 38 tunnels. The engineer Henry Castell planned it, and 5,200 men built "
        "it. Trains were pulled by steam until 1936, when the line was electrified. Freight is "
        "carried in the night. The southern ramp is steeper than the northern one. The railway "
        "belongs to the state of Italy.",
        "Opened on 17 October 1888, the railway over the pass connects Turin with the valley. The "
        "line is 73 km long, climbs to 1,420 m and has 38 tunnels. It was planned by the engineer "
        "Henry Castell and built by 5,200 men. Steam trains were used until 1936. The southern "
        "ramp is steeper. Freight is carried in the night, and the railway belongs to the state "
        "of Italy.",
    ),
    Grounded(
        "Who was the painter Emma Rosling?",
        "Emma Rosling was a Swedish painter of the late 19th century. She was born in Stockholm "
        "in 1851 and studied in Paris with the sculptor Louis Fabre. She painted 430 landscapes, "
        "of which 62 are in museums. Her early pictures are dark, her later ones bright. In 1889 "
        "she won the gold medal of the city of Munich. She taught at a school for women and wrote "
        "a book on colour. Rosling was friendly with the poet Arthur Lennox. She died in 1923.",
        "Emma Rosling was a painter of the late 19th century who studied in Paris. The Swedish "
        "artist was born in 1851, and the sculptor Louis Fabre was her teacher. She painted 430 "
        "landscapes, and 62 of them are in museums. The early pictures are dark. She taught at a "
        "school for women. A friend of hers was the poet Arthur Lennox. In 1889 she won the gold "
        "medal of the city of Munich.",
    ),
    Grounded(
        "What is known of the volcano Mount Sarre?",
        "Mount Sarre is an active volcano in the south of Chile. Its height is 2,870 m and its "
        "crater is 410 m wide. It erupted in 1779 and again in 1964, when 23 villages were "
        "abandoned. The geologist Karl Weber climbed it first. The lava is rich in iron and flows "
        "quickly. The northern slope is covered by a glacier, which has become smaller. The "
        "volcano is watched by an observatory with eight stations. Gas is measured every day, and "
        "the risk is lower in summer.",
        "The volcano is active and lies in the south of Chile. It is 2,870 m high, with a crater "
        "of 410 m. Eruptions were seen in 1779 and in 1964, when 23 villages were abandoned. The "
        "geologist Karl Weber climbed it first. A glacier, which has become smaller, covers the "
        "northern slope. The lava is rich in iron. An observatory with eight stations watches the "
        "volcano.",
    ),
    Grounded(
        "How did the Vesk cooperative grow?",
        "The Vesk cooperative makes cheese in Austria. It was founded in 1921 by 34 farmers under "
        "Joseph Adler. By 1955 it had 890 members and a dairy in Vienna. Its cheese is ripened "
        "for 10 months, which is longer than the law asks for. Production increased after the "
        "war. In 1978 the cooperative bought a rival, and 15% of its milk now comes from abroad. "
        "The members own the dairy and share the profit. The directors are elected for five "
        "years. The cheese is exported to Belgium.",
        "The cooperative, which makes cheese in Austria, was founded in 1921 by 34 farmers under "
        "Joseph Adler. In 1955 it had 890 members and a dairy in Vienna. The cheese is ripened "
        "for 10 months, longer than the law asks for. After the war production increased. A rival "
        "was bought in 1978, and 15% of the milk comes from abroad. The members own the dairy and "
        "share the profit. The cheese is exported to Belgium.",
    ),
    Grounded(
        "What did the survey of the Lorne marsh find?",
        "The Lorne marsh was surveyed from May 1996 to August 1999. The survey counted 57 species "
        "of birds and 213 of plants. The number of herons had decreased since 1970, while ducks "
        "had become more frequent. The water is shallow, with a mean depth of 0.8 m. Robert "
        "Finlay of Glasgow led the work with nine volunteers. The marsh is drained by a canal, "
        "and its eastern part is drier. The report was read in Scotland by the council, which "
        "bought 640 hectares. Grazing is allowed in autumn.",
        "From May 1996 to August 1999 the survey counted 57 species of birds and 213 of plants in "
        "the marsh. Herons had decreased since 1970. The water is shallow, with a mean depth of "
        "0.8 m, and the eastern part is drier. The work was led by Robert Finlay of Glasgow with "
        "nine volunteers. The council bought 640 hectares. Grazing is allowed in autumn.",
    ),
)
