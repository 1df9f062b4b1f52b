/** Destinations of the project: the receivers of events and records. */
import { useState } from 'react';
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { destinationsPage_project$data } from '../../__generated__/destinationsPage_project.graphql.ts';
import type { destinationsPageCreateMutation } from '../../__generated__/destinationsPageCreateMutation.graphql.ts';
import type { destinationsPageQuery } from '../../__generated__/destinationsPageQuery.graphql.ts';
import { CopyableValue, FormDialog } from '../parts/dialog.tsx';
import { Search, useProjectLink, useSearch } from '../parts/filters.tsx';
import { Choice, TextInput } from '../parts/form.tsx';
import { Empty, ListPage, NotFound } from '../parts/page.tsx';
import { Paged } from '../parts/paged.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { formatWords } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import type { ConsolePageProps } from '../shell/pages.ts';
import { DestinationState } from './destination-state.tsx';

const PAGE_QUERY = graphql`
  query destinationsPageQuery($project: String!, $search: String) {
    project(idOrName: $project) {
      ...destinationsPage_project @arguments(search: $search)
    }
  }
`;

const DESTINATIONS = graphql`
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
          ...destinationState_destination
          failed: deliveries(status: FAILED) {
            totalCount
          }
          retrying: deliveries(status: RETRYING) {
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

const POLL_MS = 5_000;
const NO_DESTINATIONS = (
  <Empty title="No destinations yet">Create one to receive events and records.</Empty>
);
const COLUMNS = ['Name', 'Status', 'Failed', 'Retrying', 'Pending', 'Type', 'URL'];
const DETAIL_COLUMNS = ['Retrying', 'Pending', 'Type', 'URL'];

const getDestinations = ({ destinations }: destinationsPage_project$data) => destinations;

export default function DestinationsPage({ project: projectIdOrName }: ConsolePageProps) {
  const { search } = useSearch();
  const variables = { project: projectIdOrName, search };
  const { project } = usePageQuery<destinationsPageQuery>(PAGE_QUERY, variables, {
    everyMs: POLL_MS,
  });
  const linkTo = useProjectLink(projectIdOrName);
  if (!project) return <NotFound noun="project" />;
  return (
    <ListPage
      title="Destinations"
      description="Receivers of events and records. Failed messages are retried until they succeed or run out of retries."
      actions={<CreateDestination project={projectIdOrName} />}
      query={PAGE_QUERY}
      variables={variables}
      filters={<Search label="Name" />}
    >
      <Paged
        fragment={DESTINATIONS}
        parent={project}
        list={getDestinations}
        empty={NO_DESTINATIONS}
      >
        {(destinations) => (
          <Table label="Destinations" columns={COLUMNS} detailColumns={DETAIL_COLUMNS}>
            {destinations.map((destination) => (
              <DestinationRow key={destination.id} destination={destination} linkTo={linkTo} />
            ))}
          </Table>
        )}
      </Paged>
    </ListPage>
  );
}

interface DestinationRowProps {
  destination: destinationsPage_project$data['destinations']['edges'][number]['node'];
  linkTo: (path: string) => string;
}

function DestinationRow({ destination, linkTo }: DestinationRowProps) {
  const { id, name, type, url, failed, retrying, pending } = destination;
  const isStream = type === 'STREAM';
  const lists = Object.entries({ FAILED: failed, RETRYING: retrying, PENDING: pending });
  return (
    <tr>
      <td>
        <Link href={linkTo(`destinations/${id}`)} className="strong">
          {name}
        </Link>
      </td>
      <td>
        <DestinationState destination={destination} />
      </td>
      {lists.map(([status, { totalCount }]) => (
        <td key={status}>
          {isStream ? (
            '—'
          ) : (
            <Link
              href={linkTo(`destinations/${id}?status=${status}`)}
              className={totalCount === 0 ? 'quiet' : ''}
            >
              {totalCount.toLocaleString('en')}
            </Link>
          )}
        </td>
      ))}
      <td>{formatWords(type)}</td>
      <td className="mono">{url ?? '—'}</td>
    </tr>
  );
}

const CREATE_DESTINATION = graphql`
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
  { id: 'WEBHOOK', label: 'Webhook: posts messages to your URL' },
  { id: 'STREAM', label: 'Stream: stores messages for clients to read' },
];

function CreateDestination({ project }: { project: string }) {
  const [type, setType] = useState<Type>('WEBHOOK');
  return (
    <FormDialog<destinationsPageCreateMutation>
      triggerLabel="Create destination"
      kind="primary"
      title="Create destination"
      submitLabel="Create destination"
      mutation={CREATE_DESTINATION}
      variables={({ name, url }) => ({
        input: {
          projectIdOrName: project,
          type,
          name: String(name),
          ...(url && { url: String(url) }),
        },
      })}
      renderResult={({ createDestination: { signingSecret } }) => renderSecret(signingSecret)}
    >
      <TextInput
        name="name"
        label="Name"
        isRequired
        help="Integrations refer to it by this name."
      />
      <Choice
        label="Type"
        options={TYPES}
        value={type}
        onChange={(id) => setType(id === 'STREAM' ? 'STREAM' : 'WEBHOOK')}
      />
      {type === 'WEBHOOK' && (
        <TextInput name="url" label="URL" type="url" isRequired placeholder="https://" />
      )}
    </FormDialog>
  );
}

/** A stream has no URL. */
function renderSecret(secret: string | null | undefined) {
  const explanation =
    'Destination created. This is its signing secret. Your receiver verifies messages with it:';
  return (
    secret && <CopyableValue explanation={explanation} value={secret} label="Signing secret" />
  );
}
