/** Creates a connect page link for a customer, as a backend does for a signed-in user. */
import { graphql } from 'react-relay';
import type { connectCustomerMutation } from '../../__generated__/connectCustomerMutation.graphql.ts';
import { CopyableValue, FormDialog } from '../parts/dialog.tsx';
import { TextInput } from '../parts/form.tsx';
import { Time } from '../parts/time.tsx';

const CREATE_SESSION_TOKEN = graphql`
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
  /** The only integration that the connect page offers. Default: all integrations of the project. */
  integration?: string;
  /** Prefills the form. */
  groupRef?: string;
  consumerRef?: string;
}

export function ConnectCustomer(props: ConnectCustomerProps) {
  const { project, kind = 'primary', integration } = props;
  return (
    <FormDialog<connectCustomerMutation>
      triggerLabel="Connect customer"
      kind={kind}
      title="Connect a customer"
      submitLabel="Create link"
      mutation={CREATE_SESSION_TOKEN}
      variables={({ groupRef, consumerRef }) => ({
        input: {
          projectIdOrName: project,
          groupRef: String(groupRef),
          consumerRef: String(consumerRef),
          ...(integration && { integrations: [integration] }),
        },
      })}
      skipRefetch
      renderResult={({ createSessionToken: { connectUrl, expireTime } }) => (
        <>
          <CopyableValue
            explanation={
              <>
                Open it with the customer: the link expires <Time value={expireTime} isInSentence />
                .
              </>
            }
            value={connectUrl}
            label="connect link"
          />
          <div className="row">
            <a href={connectUrl} target="_blank" rel="noreferrer">
              Open connect page
            </a>
          </div>
        </>
      )}
    >
      <p className="quiet">
        Your backend creates such a link for each signed-in user with createSessionToken.
      </p>
      <TextInput
        name="groupRef"
        label="Group"
        isRequired
        defaultValue={props.groupRef ?? ''}
        help="Your own ID for this customer."
      />
      <TextInput
        name="consumerRef"
        label="Consumer"
        isRequired
        defaultValue={props.consumerRef ?? ''}
        help="Your own ID for this person."
      />
    </FormDialog>
  );
}
