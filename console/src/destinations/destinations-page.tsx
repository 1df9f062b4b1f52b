/** Where events and records are sent. */
import { useState } from 'react';
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { destinationsPageCreateMutation } from '../../__generated__/destinationsPageCreateMutation.graphql.ts';
import type { destinationsPageQuery } from '../../__generated__/destinationsPageQuery.graphql.ts';
import { Dialog, Secret } from '../parts/dialog.tsx';
import { useAddress } from '../parts/filters.tsx';
import { Action, Form, Refusal, TextInput } from '../parts/form.tsx';
import { Empty, Missing, Page } from '../parts/page.tsx';
import { useChange, usePageQuery } from '../parts/queries.ts';
import { Status, wordsOf } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import type { PageProps } from '../shell/places.ts';

const QUERY = graphql`
  query destinationsPageQuery($project: String!) {
    project(idOrName: $project) {
      destinations(first: 100) {
        totalCount
        nodes {
          id
          name
          type
          url
          status
          disabledReason
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
  const variables = { project: idOrName };
  const { project } = usePageQuery<destinationsPageQuery>(QUERY, variables, { everyMs: LOOK_MS });
  const address = useAddress(idOrName);
  if (!project) return <Missing what="project" />;
  const { nodes } = project.destinations;
  return (
    <Page
      title="Destinations"
      about="Receivers of events and records. What they don't take is sent again, until it is given up."
      actions={<CreateDestination project={idOrName} />}
      query={QUERY}
      variables={variables}
    >
      <section className="card">
        {nodes.length === 0 ? (
          <Empty title="No destination yet">Add one; its secret signs what it is sent.</Empty>
        ) : (
          <Table label="Destinations" columns={COLUMNS}>
            {nodes.map(({ id, name, type, url, status, pending, failed }) => (
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
                <td>{pending.totalCount.toLocaleString('en')}</td>
                <td>{failed.totalCount.toLocaleString('en')}</td>
              </tr>
            ))}
          </Table>
        )}
      </section>
    </Page>
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

function CreateDestination({ project }: { project: string }) {
  const { run, isRunning, problem } = useChange<destinationsPageCreateMutation>(CREATE);
  const [secret, setSecret] = useState<string | null>(null);
  const create = async ({ name, url }: Record<string, FormDataEntryValue>) => {
    const input = { projectIdOrName: project, type: 'WEBHOOK' as const };
    const made = await run({ input: { ...input, name: String(name), url: String(url) } });
    setSecret(made?.createDestination.signingSecret ?? null);
  };
  return (
    <Dialog opener="Add a destination" kind="primary" title="Add a destination">
      {(close) =>
        secret ? (
          <>
            <p>The destination is made. Its signing secret, with which you check its messages:</p>
            <Secret value={secret} label="Signing secret" />
            <div className="row end">
              <Action kind="primary" onPress={() => [setSecret(null), close()]}>
                Done
              </Action>
            </div>
          </>
        ) : (
          <Form onSubmit={create} problem={problem}>
            <TextInput name="name" label="Name" isRequired help="Integrations name it." />
            <TextInput name="url" label="Address" type="url" isRequired placeholder="https://" />
            <Refusal problem={problem} shown={['name', 'url']} />
            <div className="row end">
              <Action onPress={close}>Cancel</Action>
              <Action type="submit" kind="primary" isPending={isRunning}>
                Add
              </Action>
            </div>
          </Form>
        )
      }
    </Dialog>
  );
}
