/** Loads current records from the provider on a button press, with the installation's fields and mapping. */
import { useState } from 'react';
import { graphql } from 'react-relay';
import type { recordsQuery } from '../../__generated__/recordsQuery.graphql.ts';
import { Action, Choice, Form, type FormValues, TextInput } from '../parts/form.tsx';
import { Empty, Loaded, Panel } from '../parts/page.tsx';
import { PAGE_SIZE } from '../parts/paged.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { Json, Table } from '../parts/table.tsx';

const QUERY = graphql`
  query recordsQuery(
    $id: ID!
    $objectName: String!
    $filters: [RecordFilterInput!]
    $first: Int!
    $after: String
  ) {
    node(id: $id) {
      ... on Installation {
        records(objectName: $objectName, filters: $filters, first: $first, after: $after) {
          nodes {
            id
            fields
            mappedFields
            raw
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
        contract {
          objects {
            sources {
              providerObject
            }
            fields {
              name
              providerField
            }
          }
        }
      }
    }
  }
`;

interface RecordsProps {
  id: string;
  objects: readonly { objectName: string; mappedObjectName: string | null | undefined }[];
}

interface RecordQuery {
  objectName: string;
  filters: { fieldName: string; value: unknown }[] | null;
}

export function Records({ id, objects }: RecordsProps) {
  const [recordQuery, setRecordQuery] = useState<RecordQuery | null>(null);
  if (objects.length === 0) return null;
  const submitQuery = ({ objectName, fieldName, value }: FormValues) =>
    setRecordQuery({
      objectName: String(objectName),
      filters: fieldName
        ? [{ fieldName: String(fieldName), value: parseLiteral(String(value)) }]
        : null,
    });
  const options = objects.map(({ objectName, mappedObjectName }) => ({
    id: objectName,
    label: mappedObjectName ? `${objectName} as ${mappedObjectName}` : objectName,
  }));
  return (
    <Panel title="Records at the provider">
      <Form onSubmit={submitQuery}>
        <div className="filters">
          <Choice
            name="objectName"
            label="Object"
            options={options}
            defaultValue={options[0]?.id ?? ''}
          />
          <TextInput name="fieldName" label="Filter by field" />
          <TextInput name="value" label="Equals" />
          <Action type="submit">Load records</Action>
        </div>
      </Form>
      {recordQuery && (
        <Loaded resetKey={JSON.stringify(recordQuery)}>
          <RecordPages key={JSON.stringify(recordQuery)} id={id} query={recordQuery} />
        </Loaded>
      )}
    </Panel>
  );
}

/** Converts numbers, `true` and `false`. Returns any other text unchanged. */
function parseLiteral(text: string): unknown {
  return /^(-?\d+(\.\d+)?|true|false)$/.test(text) ? JSON.parse(text) : text;
}

const COLUMNS_MAX = 6;

interface RecordPagesProps {
  id: string;
  query: RecordQuery;
  pageSize?: number;
}

/** Records of an object, page by page. */
export function RecordPages({ id, query, pageSize = PAGE_SIZE }: RecordPagesProps) {
  const [after, setAfter] = useState<string | null>(null);
  const { node } = usePageQuery<recordsQuery>(
    QUERY,
    { id, ...query, first: pageSize, after },
    { needsAll: true },
  );
  const { nodes = [], pageInfo } = node?.records ?? {};
  if (nodes.length === 0) return <Empty title="No records match" />;
  const records = nodes.map(({ fields, mappedFields, ...record }) => ({
    ...record,
    values: { ...fields, ...mappedFields } as Record<string, unknown>,
  }));
  const renamed = listRenamedFields(node?.contract, query.objectName);
  const columns = new Set(records.flatMap(({ values }) => Object.keys(values)));
  const visibleColumns = [...columns.difference(renamed)].slice(0, COLUMNS_MAX);
  return (
    <>
      <Table label="Records at the provider" columns={['ID', ...visibleColumns, 'Raw record']}>
        {records.map(({ id: recordId, raw, values }) => (
          <tr key={recordId}>
            <td className="mono">{recordId}</td>
            {visibleColumns.map((name) => (
              <td key={name}>{formatValue(values[name])}</td>
            ))}
            <td>
              <details>
                <summary>Show raw</summary>
                <Json value={raw} label={`Record ${recordId}`} />
              </details>
            </td>
          </tr>
        ))}
      </Table>
      <div className="more">
        {after && <Action onPress={() => setAfter(null)}>First page</Action>}
        {pageInfo?.hasNextPage && (
          <Action onPress={() => setAfter(pageInfo.endCursor ?? null)}>Next page</Action>
        )}
      </div>
    </>
  );
}

type Contract = NonNullable<recordsQuery['response']['node']>['contract'];

/** Lists the provider's names of mapped fields. A record also has these fields under their mapped names. */
function listRenamedFields(contract: Contract, objectName: string): Set<string> {
  const renamed = new Set<string>();
  for (const { sources, fields } of contract?.objects ?? []) {
    if (!sources.some(({ providerObject }) => providerObject === objectName)) continue;
    for (const { name, providerField } of fields) {
      if (providerField && providerField !== name) renamed.add(providerField);
    }
  }
  return renamed;
}

function formatValue(value: unknown): string {
  if (value === null || value === undefined) return '—';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
