/** Creates a connect page link for a customer, as a backend does for a signed-in user. */
import { graphql } from 'react-relay';
import type { connectCustomerMutation } from '../../__generated__/connectCustomerMutation.graphql.ts';
import { FormDialog } from '../parts/dialog.tsx';
import { TextInput } from '../parts/form.tsx';
import { Time } from '../parts/time.tsx';

const CREATE = graphql`
  mutation connectCustomerMutation($input: CreateSessionTokenInput!) {
    createSessionToken(input: $input) {
      connectUrl
      expireTime
    }
  }
`;

interface ConnectCustomerProps {
  project: string;
  kind?: 'primary' | 'plain';
}

export function ConnectCustomer({ project, kind = 'primary' }: ConnectCustomerProps) {
  return (
    <FormDialog<connectCustomerMutation>
      triggerLabel="Connect customer"
      kind={kind}
      title="Connect a customer"
      submitLabel="Create link"
      mutation={CREATE}
      variables={({ groupRef, consumerRef }) => ({
        input: {
          projectIdOrName: project,
          groupRef: String(groupRef),
          consumerRef: String(consumerRef),
        },
      })}
      skipRefetch
      renderResult={({ createSessionToken: { connectUrl, expireTime } }) => (
        <p>
          <a href={connectUrl} target="_blank" rel="noreferrer">
            Open connect page
          </a>{' '}
          <span className="quiet">
            This link expires <Time value={expireTime} />.
          </span>
        </p>
      )}
    >
      <p className="quiet">
        Your backend creates such a link for each signed-in user with createSessionToken.
      </p>
      <TextInput name="groupRef" label="Group" isRequired help="Your own ID for this customer." />
      <TextInput
        name="consumerRef"
        label="Consumer"
        isRequired
        help="Your own ID for this person."
      />
    </FormDialog>
  );
}
