/** Turning a destination off and on, another address, another secret, and its end. */
import { useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import { useLocation } from 'wouter';
import type { destinationActions_destination$key } from '../../__generated__/destinationActions_destination.graphql.ts';
import type { destinationActionsDeleteMutation } from '../../__generated__/destinationActionsDeleteMutation.graphql.ts';
import type { destinationActionsRotateMutation } from '../../__generated__/destinationActionsRotateMutation.graphql.ts';
import type { destinationActionsUpdateMutation } from '../../__generated__/destinationActionsUpdateMutation.graphql.ts';
import { Confirm, Dialog, Secret } from '../parts/dialog.tsx';
import { useAddress } from '../parts/filters.tsx';
import { Action, Form, Refusal, TextInput } from '../parts/form.tsx';
import { useChange } from '../parts/queries.ts';

const DESTINATION = graphql`
  fragment destinationActions_destination on Destination {
    id
    status
    type
    name
    url
  }
`;

const UPDATE = graphql`
  mutation destinationActionsUpdateMutation($input: UpdateDestinationInput!) {
    updateDestination(input: $input) {
      destination {
        id
        status
        disabledReason
        name
        url
      }
    }
  }
`;

const ROTATE = graphql`
  mutation destinationActionsRotateMutation($input: RotateDestinationSecretInput!) {
    rotateDestinationSecret(input: $input) {
      signingSecret
    }
  }
`;

const DELETE = graphql`
  mutation destinationActionsDeleteMutation($input: DeleteDestinationInput!) {
    deleteDestination(input: $input) {
      deletedId
    }
  }
`;

interface ActionsProps {
  project: string;
  destination: destinationActions_destination$key;
}

export function DestinationActions({ project, destination }: ActionsProps) {
  const { id, status, type, ...shown } = useFragment(DESTINATION, destination);
  const [, navigate] = useLocation();
  const address = useAddress(project);
  const update = useChange<destinationActionsUpdateMutation>(UPDATE);
  const remove = useChange<destinationActionsDeleteMutation>(DELETE);
  const input = { projectIdOrName: project, destinationId: id };
  const next = status === 'ENABLED' ? 'DISABLED' : 'ENABLED';
  return (
    <>
      <Action
        isPending={update.isRunning}
        onPress={() => update.run({ input: { ...input, status: next } })}
      >
        {status === 'ENABLED' ? 'Disable' : 'Enable'}
      </Action>
      {type === 'WEBHOOK' && <Edit input={input} shown={shown} />}
      {type === 'WEBHOOK' && <Rotate input={input} />}
      <Confirm
        opener="Delete"
        title="Delete this destination?"
        problem={remove.problem}
        isRunning={remove.isRunning}
        onConfirm={async () => {
          const done = await remove.run({ input });
          if (done) navigate(address('destinations'));
          return done;
        }}
      >
        <p>What waits for it is not sent any more, and its routes go with it.</p>
      </Confirm>
    </>
  );
}

interface InputProps {
  input: { projectIdOrName: string; destinationId: string };
}

interface EditProps extends InputProps {
  shown: { name: string; url: string | null | undefined };
}

function Edit({ input, shown }: EditProps) {
  const { run, isRunning, problem } = useChange<destinationActionsUpdateMutation>(UPDATE);
  return (
    <Dialog opener="Edit" title="Edit the destination">
      {(close) => (
        <Form
          problem={problem}
          onSubmit={async ({ name, url }) => {
            const done = await run({ input: { ...input, name: String(name), url: String(url) } });
            if (done) close();
          }}
        >
          <TextInput name="name" label="Name" isRequired defaultValue={shown.name} />
          <TextInput name="url" label="Address" isRequired defaultValue={shown.url ?? ''} />
          <Refusal problem={problem} shown={['name', 'url']} />
          <div className="row end">
            <Action onPress={close}>Cancel</Action>
            <Action type="submit" kind="primary" isPending={isRunning}>
              Save
            </Action>
          </div>
        </Form>
      )}
    </Dialog>
  );
}

function Rotate({ input }: InputProps) {
  const { run, isRunning, problem } = useChange<destinationActionsRotateMutation>(ROTATE);
  const [secret, setSecret] = useState<string | null>(null);
  const rotate = async () => {
    const done = await run({ input });
    setSecret(done?.rotateDestinationSecret.signingSecret ?? null);
  };
  return (
    <Dialog opener="Rotate the secret" title="Rotate the signing secret">
      {(close) => (
        <>
          {secret ? (
            <Secret value={secret} label="Signing secret" />
          ) : (
            <p>
              For a day, messages carry signatures of both, so that your receiver can change over.
            </p>
          )}
          <Refusal problem={problem} />
          <div className="row end">
            <Action onPress={() => [setSecret(null), close()]}>Close</Action>
            {!secret && (
              <Action kind="primary" isPending={isRunning} onPress={rotate}>
                Make a new secret
              </Action>
            )}
          </div>
        </>
      )}
    </Dialog>
  );
}
