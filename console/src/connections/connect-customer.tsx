/** The address of the connect page for a customer, as a backend would make it for a signed-in user. */
import { useState } from 'react';
import { graphql } from 'react-relay';
import type { connectCustomerMutation } from '../../__generated__/connectCustomerMutation.graphql.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Action, Form, type FormValues, Refusal, TextInput } from '../parts/form.tsx';
import { useChange } from '../parts/queries.ts';
import { Time } from '../parts/time.tsx';

const CREATE = graphql`
  mutation connectCustomerMutation($input: CreateSessionTokenInput!) {
    createSessionToken(input: $input) {
      connectUrl
      expireTime
    }
  }
`;

type Made = connectCustomerMutation['response']['createSessionToken'];

export function ConnectCustomer({ project }: { project: string }) {
  const { run, isRunning, problem } = useChange<connectCustomerMutation>(CREATE, {
    tellsAll: true,
  });
  const [made, setMade] = useState<Made | null>(null);
  const make = async ({ groupRef, consumerRef }: FormValues) => {
    const ends = { groupRef: String(groupRef), consumerRef: String(consumerRef) };
    const answer = await run({ input: { projectIdOrName: project, ...ends } });
    setMade(answer?.createSessionToken ?? null);
  };
  return (
    <Dialog opener="Connect a customer" kind="primary" title="Connect a customer">
      {(close) => (
        <Form problem={problem} onSubmit={make}>
          <p className="quiet">
            Your backend makes such an address for each user who is signed in there:
            createSessionToken.
          </p>
          <TextInput name="groupRef" label="Group" isRequired help="Your own id of the customer." />
          <TextInput name="consumerRef" label="Consumer" isRequired help="And of the person." />
          <Refusal problem={problem} shown={['groupRef', 'consumerRef']} />
          {made && (
            <p>
              <a href={made.connectUrl} target="_blank" rel="noreferrer">
                Open the connect page
              </a>{' '}
              <span className="quiet">
                The address ends <Time of={made.expireTime} />.
              </span>
            </p>
          )}
          <div className="row end">
            <Action onPress={() => [setMade(null), close()]}>Close</Action>
            <Action type="submit" kind="primary" isPending={isRunning}>
              Make the address
            </Action>
          </div>
        </Form>
      )}
    </Dialog>
  );
}
