/** Enables, disables, edits and deletes a destination, and rotates its secret. */
import { graphql, useFragment } from 'react-relay';
import type { destinationActions_destination$key } from '../../__generated__/destinationActions_destination.graphql.ts';
import type { destinationActionsDeleteMutation } from '../../__generated__/destinationActionsDeleteMutation.graphql.ts';
import type { destinationActionsRotateMutation } from '../../__generated__/destinationActionsRotateMutation.graphql.ts';
import type { destinationActionsUpdateMutation } from '../../__generated__/destinationActionsUpdateMutation.graphql.ts';
import { ConfirmChange, CopyableValue, FormDialog } from '../parts/dialog.tsx';
import { useProjectLink } from '../parts/filters.tsx';
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

const UPDATE_DESTINATION = graphql`
  mutation destinationActionsUpdateMutation($input: UpdateDestinationInput!) {
    updateDestination(input: $input) {
      destination {
        id
        disabledReason
        ...destinationState_destination
        name
        url
      }
    }
  }
`;

const ROTATE_DESTINATION_SECRET = graphql`
  mutation destinationActionsRotateMutation($input: RotateDestinationSecretInput!) {
    rotateDestinationSecret(input: $input) {
      signingSecret
    }
  }
`;

const DELETE_DESTINATION = graphql`
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
  const { id, status, type, ...settings } = useFragment(DESTINATION, destination);
  const linkTo = useProjectLink(project);
  const update = useChange<destinationActionsUpdateMutation>(UPDATE_DESTINATION);
  const input = { projectIdOrName: project, destinationId: id };
  // Clients read a stream, so it is not signed, disabled or enabled.
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
      {isWebhook && <Edit input={input} settings={settings} />}
      {isWebhook && <Rotate input={input} />}
      <ConfirmChange<destinationActionsDeleteMutation>
        triggerLabel="Delete"
        title={`Delete ${settings.name}?`}
        mutation={DELETE_DESTINATION}
        variables={{ input }}
        leadsTo={linkTo('destinations')}
      >
        <p>Pending deliveries are not sent, and routes to it are deleted.</p>
      </ConfirmChange>
    </>
  );
}

interface InputProps {
  input: { projectIdOrName: string; destinationId: string };
}

interface EditProps extends InputProps {
  settings: { name: string; url: string | null | undefined };
}

function Edit({ input, settings }: EditProps) {
  return (
    <FormDialog<destinationActionsUpdateMutation>
      triggerLabel="Edit"
      title="Edit destination"
      submitLabel="Save"
      mutation={UPDATE_DESTINATION}
      variables={({ name, url }) => ({ input: { ...input, name: String(name), url: String(url) } })}
    >
      <TextInput name="name" label="Name" isRequired defaultValue={settings.name} />
      <TextInput name="url" label="URL" isRequired defaultValue={settings.url ?? ''} />
    </FormDialog>
  );
}

function Rotate({ input }: InputProps) {
  const explanation = 'The new signing secret. Your receiver verifies messages with it:';
  return (
    <FormDialog<destinationActionsRotateMutation>
      triggerLabel="Rotate secret"
      title="Rotate signing secret"
      submitLabel="Rotate secret"
      mutation={ROTATE_DESTINATION_SECRET}
      variables={() => ({ input })}
      renderResult={({ rotateDestinationSecret: { signingSecret } }) => (
        <CopyableValue explanation={explanation} value={signingSecret} label="Signing secret" />
      )}
    >
      <p>For 24 hours, messages are signed with both secrets, so that your receiver can switch.</p>
    </FormDialog>
  );
}
