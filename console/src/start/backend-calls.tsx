/**
 * Code for three calls of a backend: create a link to the connect page, read records, and write a record or
 * start a read.
 */
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components';
import { BASE } from '../network/connection-state.ts';
import { Snippet } from '../parts/snippet.tsx';

interface Call {
  title: string;
  query: string;
  variables: object;
}

interface BackendCallsProps {
  integration: string;
  objectName: string;
  groupRef: string;
  /** True if the integration writes the object. */
  isWritten: boolean;
  /** The fields of the object with their mapped names, which a write uses. */
  mappings: readonly {
    fieldName: string | null | undefined;
    mapToName: string | null | undefined;
  }[];
}

export function BackendCalls(props: BackendCallsProps) {
  return (
    <Tabs className="tabs">
      <TabList aria-label="Language">
        {LANGUAGES.map(({ id }) => (
          <Tab key={id} id={id} className="tab">
            {id}
          </Tab>
        ))}
      </TabList>
      {LANGUAGES.map(({ id, format }) => (
        <TabPanel key={id} id={id}>
          {listCalls(props).map((call) => (
            <Snippet key={call.title} title={call.title} text={format(call)} />
          ))}
        </TabPanel>
      ))}
    </Tabs>
  );
}

function listCalls(props: BackendCallsProps): Call[] {
  const { integration, objectName, groupRef, isWritten, mappings } = props;
  const target = { integrationIdOrName: integration, groupRef, objectName };
  return [
    {
      title: 'Create a link to the connect page for a signed-in user',
      query: `mutation ($input: CreateSessionTokenInput!) {
  createSessionToken(input: $input) { connectUrl expireTime }
}`,
      variables: { input: { groupRef, consumerRef: 'user-1' } },
    },
    {
      title: "Read a customer's records",
      query: `query ($integration: String!, $groupRef: String!, $objectName: String!) {
  project {
    installation(integrationIdOrName: $integration, groupRef: $groupRef) {
      records(objectName: $objectName, first: 10) { nodes { id fields mappedFields } }
    }
  }
}`,
      variables: { integration, groupRef, objectName },
    },
    isWritten
      ? {
          title: 'Write a record',
          query: `mutation ($input: WriteRecordsInput!) {
  writeRecords(input: $input) { operation { id status result } result { recordId } }
}`,
          variables: {
            input: { ...target, type: 'CREATE', records: { record: createSample(mappings) } },
          },
        }
      : {
          title: 'Read all records now, and send them to the destination',
          query: `mutation ($input: TriggerReadInput!) {
  triggerRead(input: $input) { operation { id status } }
}`,
          variables: { input: target },
        },
  ];
}

const SAMPLE = { email: 'ada@example.com', lastname: 'Lovelace' };

function createSample(mappings: BackendCallsProps['mappings']): Record<string, string> {
  const getName = (field: string) =>
    mappings.find(({ fieldName, mapToName }) => fieldName === field && mapToName)?.mapToName ??
    field;
  return Object.fromEntries(
    Object.entries(SAMPLE).map(([field, value]) => [getName(field), value]),
  );
}

const ENDPOINT = `${location.origin}${BASE}/graphql`;

const LANGUAGES = [
  { id: 'curl', format: formatCurl },
  { id: 'TypeScript', format: formatTypescript },
];

function formatCurl({ query, variables }: Call): string {
  const body = JSON.stringify({ query: query.replace(/\s+/g, ' '), variables });
  return `curl -s ${ENDPOINT} \\
  -H "x-api-key: $GATEWAY_API_KEY" -H 'content-type: application/json' \\
  -d '${body.replaceAll("'", `'\\''`)}'`;
}

function formatTypescript({ query, variables }: Call): string {
  const indented = (text: string) => text.replaceAll('\n', '\n    ');
  return `const response = await fetch('${ENDPOINT}', {
  method: 'POST',
  headers: { 'x-api-key': process.env.GATEWAY_API_KEY ?? '', 'content-type': 'application/json' },
  body: JSON.stringify({
    query: \`${indented(query)}\`,
    variables: ${indented(JSON.stringify(variables, null, 2))},
  }),
});
const { data, errors } = await response.json();
if (errors) throw new Error(errors[0].message);
console.log(data);`;
}
