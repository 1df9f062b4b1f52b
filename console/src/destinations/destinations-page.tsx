/** Where events and records are sent. */
import { useState } from 'react';
import { graphql, usePaginationFragment } from 'react-relay';
import { Link } from 'wouter';
import type { destinationsPage_project$key } from '../../__generated__/destinationsPage_project.graphql.ts';
import type { destinationsPageCreateMutation } from '../../__generated__/destinationsPageCreateMutation.graphql.ts';
import type { destinationsPageNextQuery } from '../../__generated__/destinationsPageNextQuery.graphql.ts';
import type { destinationsPageQuery } from '../../__generated__/destinationsPageQuery.graphql.ts';
import { FormDialog } from '../parts/dialog.tsx';
import { Search, useAddress, useSearch } from '../parts/filters.tsx';
import { Choice, type FormValues, TextInput } from '../parts/form.tsx';
import { Empty, Missing, Page } from '../parts/page.tsx';
import { Paged } from '../parts/paged.tsx';
import { useChange, usePageQuery } from '../parts/queries.ts';
import { Status, wordsOf } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import type { PageProps } from '../shell/places.ts';

const QUERY = graphql`
  query destinationsPageQuery($project: String!, $search: String) {
    project(idOrName: $project) {
      ...destinationsPage_project @arguments(search: $search)
    }
  }
`;

const LIST = graphql`
  fragment destinationsPage_project on Project
  @argumentDefinitions(
    count: { type: "Int", defaultValue: 25 }
    cursor: { type: "String" }
    search: { type: "String" }
  )
  @refetchable(queryName: "destinationsPageNextQuery") {
    destinations(first: $count, after: $cursor, search: $search)
      @connection(key: "destinationsPage_destinations") {
      totalCount
      edges {
        node {
          id
          name
          type
          url
          status
          failed: deliveries(status: FAILED) {
            totalCount
          }
          pending: deliveries(status: PENDING) {
            totalCount
          }
        }
      }
    }
  }
`;

const LOOK_MS = 5_000;
const COLUMNS = ['Name', 'Type', 'Address', 'Status', 'Waiting', 'Given up'];

export default function DestinationsPage({ project: idOrName }: PageProps) {
  const { search } = useSearch();
  const variables = { project: idOrName, search };
  const { project } = usePageQuery<destinationsPageQuery>(QUERY, variables, { everyMs: LOOK_MS });
  const address = useAddress(idOrName);
  if (!project) return <Missing what="project" />;
  return (
    <Page
      title="Destinations"
      about="Receivers of events and records. What they don't take is sent again, until it is given up."
      actions={<CreateDestination project={idOrName} />}
      query={QUERY}
      variables={variables}
    >
      <div className="filters">
        <Search label="Name" />
      </div>
      <section className="card">
        <List project={project} address={address} />
      </section>
    </Page>
  );
}

interface ListProps {
  project: destinationsPage_project$key;
  address: (path: string) => string;
}

function List({ project, address }: ListProps) {
  const { data, ...pages } = usePaginationFragment<
    destinationsPageNextQuery,
    destinationsPage_project$key
  >(LIST, project);
  const empty = <Empty title="No destination">Add one; its secret signs what it is sent.</Empty>;
  return (
    <Paged list={data.destinations} pages={pages} empty={empty}>
      {(destinations) => (
        <Table label="Destinations" columns={COLUMNS}>
          {destinations.map(({ id, name, type, url, status, pending, failed }) => (
            <tr key={id}>
              <td>
                <Link href={address(`destinations/${id}`)} className="strong">
                  {name}
                </Link>
              </td>
              <td>{wordsOf(type)}</td>
              <td className="mono">{url ?? '—'}</td>
              <td>
                <Status of={status} />
              </td>
              <td>
                <Link href={address(`destinations/${id}?status=PENDING`)}>
                  {pending.totalCount.toLocaleString('en')}
                </Link>
              </td>
              <td>
                <Link href={address(`destinations/${id}?status=FAILED`)}>
                  {failed.totalCount.toLocaleString('en')}
                </Link>
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Paged>
  );
}

const CREATE = graphql`
  mutation destinationsPageCreateMutation($input: CreateDestinationInput!) {
    createDestination(input: $input) {
      destination {
        id
      }
      signingSecret
    }
  }
`;

type Type = 'WEBHOOK' | 'STREAM';
const TYPES: { id: Type; label: string }[] = [
  { id: 'WEBHOOK', label: 'Webhook: posted to a URL of yours' },
  { id: 'STREAM', label: 'Stream: kept, and read from here' },
];

function CreateDestination({ project }: { project: string }) {
  const made = useChange<destinationsPageCreateMutation>(CREATE);
  const [secret, setSecret] = useState<string | null>(null);
  const [type, setType] = useState<Type>('WEBHOOK');
  const create = async ({ name, url }: FormValues) => {
    const input = { projectIdOrName: project, type, name: String(name) };
    const answer = await made.run({ input: { ...input, ...(url && { url: String(url) }) } });
    setSecret(answer?.createDestination.signingSecret ?? null);
    return answer;
  };
  return (
    <FormDialog
      opener="Add a destination"
      kind="primary"
      title="Add a destination"
      submit="Add"
      change={made}
      shown={['name', 'url']}
      onSubmit={create}
      {...(type === 'WEBHOOK' && { made: secretOf(secret) })}
      onClose={() => setSecret(null)}
    >
      <TextInput name="name" label="Name" isRequired help="Integrations name it." />
      <Choice
        label="How it gets its messages"
        options={TYPES}
        value={type}
        onChange={(id) => setType(id === 'STREAM' ? 'STREAM' : 'WEBHOOK')}
      />
      {type === 'WEBHOOK' && (
        <TextInput name="url" label="Address" type="url" isRequired placeholder="https://" />
      )}
    </FormDialog>
  );
}

/** Null before it was made. */
function secretOf(value: string | null) {
  const about = 'The destination is made. Its signing secret, with which you check its messages:';
  return value && { about, value, label: 'Signing secret' };
}
