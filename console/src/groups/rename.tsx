/** Changes the display name of a group or of a consumer. */
import { graphql } from 'react-relay';
import type { MutationParameters } from 'relay-runtime';
import type { renameConsumerMutation } from '../../__generated__/renameConsumerMutation.graphql.ts';
import type { renameGroupMutation } from '../../__generated__/renameGroupMutation.graphql.ts';
import type { ChangeFormProps } from '../parts/change-form.tsx';
import { FormDialog } from '../parts/dialog.tsx';
import { TextInput } from '../parts/form.tsx';

const UPDATE_GROUP = graphql`
  mutation renameGroupMutation($input: UpdateGroupInput!) {
    updateGroup(input: $input) {
      group {
        groupName
      }
    }
  }
`;

const UPDATE_CONSUMER = graphql`
  mutation renameConsumerMutation($input: UpdateConsumerInput!) {
    updateConsumer(input: $input) {
      consumer {
        consumerName
      }
    }
  }
`;

interface RenameGroupProps {
  project: string;
  groupRef: string;
  groupName: string;
}

export function RenameGroup({ project, groupRef, groupName }: RenameGroupProps) {
  return (
    <Rename<renameGroupMutation>
      title="Rename group"
      inputName="groupName"
      currentName={groupName}
      mutation={UPDATE_GROUP}
      variables={(values) => ({
        input: { projectIdOrName: project, groupRef, groupName: String(values.groupName) },
      })}
    />
  );
}

interface RenameConsumerProps {
  project: string;
  consumerRef: string;
  consumerName: string;
}

export function RenameConsumer({ project, consumerRef, consumerName }: RenameConsumerProps) {
  return (
    <Rename<renameConsumerMutation>
      title="Rename consumer"
      inputName="consumerName"
      currentName={consumerName}
      mutation={UPDATE_CONSUMER}
      variables={(values) => ({
        input: { projectIdOrName: project, consumerRef, consumerName: String(values.consumerName) },
      })}
    />
  );
}

interface RenameProps<Mutation extends MutationParameters>
  extends Pick<ChangeFormProps<Mutation>, 'mutation' | 'variables'> {
  title: string;
  inputName: string;
  currentName: string;
}

function Rename<Mutation extends MutationParameters>(props: RenameProps<Mutation>) {
  const { title, inputName, currentName, ...change } = props;
  return (
    <FormDialog<Mutation> triggerLabel="Rename" title={title} submitLabel="Rename" {...change}>
      <TextInput
        name={inputName}
        label="Name"
        isRequired
        isFocused
        defaultValue={currentName}
        help="The reference does not change. Your backend can also set the name when it connects an account."
      />
    </FormDialog>
  );
}
