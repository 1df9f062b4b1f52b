/** Matches results without trace ids to inputs by their content, because HubSpot returns them in a random order. */

interface Content {
  properties: Record<string, unknown>;
}

interface Input extends Content {
  associations?: unknown[] | undefined;
}

/** Equal inputs, and the results that they may have. */
interface Group<Sent, Result> {
  inputs: Sent[];
  results: Result[];
}

/**
 * Returns the results of the inputs. An input is absent if its result is uncertain, because it must not get the id of
 * another record. Equal inputs get their results in any order, because the created records are interchangeable.
 */
export function matchResults<Sent extends Input, Result extends Content>(
  inputs: Sent[],
  results: Result[],
): Map<Sent, Result> {
  const matches = new Map<Sent, Result>();
  // If a record was refused, the only result with its content may be that of another record.
  if (inputs.length !== results.length) return matches;
  let groups = createGroups(inputs, results);
  const findCertain = () => groups.find((group) => group.inputs.length === group.results.length);
  for (let certain = findCertain(); certain; certain = findCertain()) {
    const taken = certain.results.values();
    for (const input of certain.inputs) matches.set(input, taken.next().value!);
    groups = groups
      .filter((group) => group !== certain)
      .map((group) => omitResults(group, certain));
  }
  return matches;
}

function omitResults<Sent, Result>(
  { inputs, results }: Group<Sent, Result>,
  taken: Group<Sent, Result>,
): Group<Sent, Result> {
  return { inputs, results: results.filter((result) => !taken.results.includes(result)) };
}

/** Returns groups with many values first, because these rarely fit the result of another record. */
function createGroups<Sent extends Input, Result extends Content>(
  inputs: Sent[],
  results: Result[],
): Group<Sent, Result>[] {
  const returned = results.map((result) => ({ result, values: new Set(listValues(result)) }));
  const returnedValues = new Set(returned.flatMap(({ values }) => [...values]));
  const equalInputs = Map.groupBy(inputs, ({ properties, associations = [] }) =>
    JSON.stringify([properties, associations]),
  );
  return [...equalInputs.values()]
    .map((group) => {
      // HubSpot changes the format of some values, such as dates. A value that no result has is not compared.
      const values = listValues(group[0]).filter((value) => returnedValues.has(value));
      const fitting = returned.filter((other) => values.every((value) => other.values.has(value)));
      return { inputs: group, results: fitting.map(({ result }) => result), size: values.length };
    })
    .toSorted((a, b) => b.size - a.size);
}

/**
 * Lists the values that are not empty, each after its name. Case and outer spaces are ignored, and numbers are texts,
 * because HubSpot returns texts and lowercases email addresses.
 */
function listValues(content: Content | undefined): string[] {
  return Object.entries(content?.properties ?? {}).flatMap(([name, value]) => {
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    const comparedText = text.trim().toLowerCase();
    return value === null || comparedText === '' ? [] : `${name}=${comparedText}`;
  });
}
