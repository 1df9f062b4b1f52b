/** The address of the connect page for a customer, as a backend would make it for a signed-in user. */
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

export function ConnectCustomer({ project }: { project: string }) {
  return (
    <FormDialog<connectCustomerMutation>
      opener="Connect a customer"
      kind="primary"
      title="Connect a customer"
      submit="Make the address"
      mutation={CREATE}
      variables={({ groupRef, consumerRef }) => ({
        input: {
          projectIdOrName: project,
          groupRef: String(groupRef),
          consumerRef: String(consumerRef),
        },
      })}
      tellsAll
      made={({ createSessionToken: { connectUrl, expireTime } }) => (
        <p>
          <a href={connectUrl} target="_blank" rel="noreferrer">
            Open the connect page
          </a>{' '}
          <span className="quiet">
            The address ends <Time of={expireTime} />.
          </span>
        </p>
      )}
    >
      <p className="quiet">
        Your backend makes such an address for each user who is signed in there: createSessionToken.
      </p>
      <TextInput name="groupRef" label="Group" isRequired help="Your own id of the customer." />
      <TextInput name="consumerRef" label="Consumer" isRequired help="And of the person." />
    </FormDialog>
  );
}
