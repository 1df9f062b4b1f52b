/** Turning a destination off and on, another address, another secret, and its end. */
import { useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { destinationActions_destination$key } from '../../__generated__/destinationActions_destination.graphql.ts';
import type { destinationActionsDeleteMutation } from '../../__generated__/destinationActionsDeleteMutation.graphql.ts';
import type { destinationActionsRotateMutation } from '../../__generated__/destinationActionsRotateMutation.graphql.ts';
import type { destinationActionsUpdateMutation } from '../../__generated__/destinationActionsUpdateMutation.graphql.ts';
import { Confirm, FormDialog } from '../parts/dialog.tsx';
import { useAddress } from '../parts/filters.tsx';
import { Action, type FormValues, TextInput } from '../parts/form.tsx';
import { useChange } from '../parts/queries.ts';
import { TestAction } from './test-action.tsx';

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
  const address = useAddress(project);
  const update = useChange<destinationActionsUpdateMutation>(UPDATE);
  const remove = useChange<destinationActionsDeleteMutation>(DELETE);
  const input = { projectIdOrName: project, destinationId: id };
  // A stream is read: nothing is sent, signed or stopped.
  const isWebhook = type === 'WEBHOOK';
  const next = status === 'ENABLED' ? 'DISABLED' : 'ENABLED';
  return (
    <>
      {isWebhook && <TestAction project={project} destinationId={id} />}
      {isWebhook && (
        <Action
          isPending={update.isRunning}
          onPress={() => update.run({ input: { ...input, status: next } })}
        >
          {status === 'ENABLED' ? 'Disable' : 'Enable'}
        </Action>
      )}
      {isWebhook && <Edit input={input} shown={shown} />}
      {isWebhook && <Rotate input={input} />}
      <Confirm
        opener="Delete"
        title="Delete this destination?"
        change={remove}
        onConfirm={() => remove.run({ input })}
        leadsTo={address('destinations')}
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
  const update = useChange<destinationActionsUpdateMutation>(UPDATE);
  const save = ({ name, url }: FormValues) =>
    update.run({ input: { ...input, name: String(name), url: String(url) } });
  return (
    <FormDialog
      opener="Edit"
      title="Edit the destination"
      submit="Save"
      change={update}
      shown={['name', 'url']}
      onSubmit={save}
    >
      <TextInput name="name" label="Name" isRequired defaultValue={shown.name} />
      <TextInput name="url" label="Address" isRequired defaultValue={shown.url ?? ''} />
    </FormDialog>
  );
}

function Rotate({ input }: InputProps) {
  const rotate = useChange<destinationActionsRotateMutation>(ROTATE);
  const [secret, setSecret] = useState<string | null>(null);
  const make = async () => {
    const done = await rotate.run({ input });
    setSecret(done?.rotateDestinationSecret.signingSecret ?? null);
    return done;
  };
  return (
    <FormDialog
      opener="Rotate the secret"
      title="Rotate the signing secret"
      submit="Make a new secret"
      change={rotate}
      onSubmit={make}
      made={
        secret && {
          about: 'The new secret, with which you check messages:',
          value: secret,
          label: 'Signing secret',
        }
      }
      onClose={() => setSecret(null)}
    >
      <p>For a day, messages carry signatures of both, so that your receiver can change over.</p>
    </FormDialog>
  );
}
