/** Turning a destination off and on, another address, another secret, and its end. */
import { graphql, useFragment } from 'react-relay';
import type { destinationActions_destination$key } from '../../__generated__/destinationActions_destination.graphql.ts';
import type { destinationActionsDeleteMutation } from '../../__generated__/destinationActionsDeleteMutation.graphql.ts';
import type { destinationActionsRotateMutation } from '../../__generated__/destinationActionsRotateMutation.graphql.ts';
import type { destinationActionsUpdateMutation } from '../../__generated__/destinationActionsUpdateMutation.graphql.ts';
import { ConfirmChange, FormDialog, Secret } from '../parts/dialog.tsx';
import { useAddress } from '../parts/filters.tsx';
import { Action, TextInput } from '../parts/form.tsx';
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
      <ConfirmChange<destinationActionsDeleteMutation>
        opener="Delete"
        title="Delete this destination?"
        mutation={DELETE}
        variables={{ input }}
        leadsTo={address('destinations')}
      >
        <p>What waits for it is not sent any more, and its routes go with it.</p>
      </ConfirmChange>
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
  return (
    <FormDialog<destinationActionsUpdateMutation>
      opener="Edit"
      title="Edit the destination"
      submit="Save"
      mutation={UPDATE}
      variables={({ name, url }) => ({ input: { ...input, name: String(name), url: String(url) } })}
    >
      <TextInput name="name" label="Name" isRequired defaultValue={shown.name} />
      <TextInput name="url" label="Address" isRequired defaultValue={shown.url ?? ''} />
    </FormDialog>
  );
}

function Rotate({ input }: InputProps) {
  const about = 'The new secret, with which you check messages:';
  return (
    <FormDialog<destinationActionsRotateMutation>
      opener="Rotate the secret"
      title="Rotate the signing secret"
      submit="Make a new secret"
      mutation={ROTATE}
      variables={() => ({ input })}
      made={({ rotateDestinationSecret: { signingSecret } }) => (
        <Secret about={about} value={signingSecret} label="Signing secret" />
      )}
    >
      <p>For a day, messages carry signatures of both, so that your receiver can change over.</p>
    </FormDialog>
  );
}
