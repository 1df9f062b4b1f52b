/** The page of a reader who has not signed in. */
import { useEffect, useState } from 'react';
import { graphql } from 'react-relay';
import { getRequest } from 'relay-runtime';
import { fetchGraphql, idOf } from '../network/fetch-graphql.ts';
import { problemOf } from '../network/problem.ts';
import { Action, Form, TextInput } from '../parts/form.tsx';
import { type DemoCredentials, findDemo, headersOf } from './session.ts';

const WHO = graphql`
  query signInQuery {
    viewer {
      kind
    }
  }
`;

async function check(credential: string): Promise<void> {
  const documentId = idOf(getRequest(WHO).params);
  await fetchGraphql({ documentId, variables: {}, isMutation: true }, headersOf(credential));
}

interface SignInProps {
  /** The reason why an earlier session ended. */
  reason: string | null;
  onSignedIn: (credential: string) => void;
}

export function SignIn({ reason, onSignedIn }: SignInProps) {
  const [demo, setDemo] = useState<DemoCredentials | null>(null);
  const [isChecking, setChecking] = useState(false);
  const [refusal, setRefusal] = useState<string | null>(reason);
  useEffect(() => {
    void findDemo().then(setDemo);
  }, []);

  const signIn = async (...credentials: string[]) => {
    setChecking(true);
    setRefusal(null);
    for (const credential of credentials) {
      try {
        await check(credential);
        return onSignedIn(credential);
      } catch (error) {
        setRefusal(problemOf(error).message);
      }
    }
    setChecking(false);
  };
  const enterDemo = ({ bearerToken, apiKey }: DemoCredentials) =>
    signIn(...(bearerToken ? [bearerToken] : []), apiKey);

  return (
    <main className="sign-in">
      <div className="card">
        <h1>Sign in to the console</h1>
        {demo && (
          <div className="demo">
            <Action kind="primary" isPending={isChecking} onPress={() => enterDemo(demo)}>
              Open demo
            </Action>
            <p className="quiet">
              A project with connections, operations and events at the built-in sandbox provider.
            </p>
          </div>
        )}
        <Form onSubmit={({ credential }) => signIn(String(credential).trim())}>
          <TextInput
            name="credential"
            label="API key or bearer token"
            type="password"
            isRequired
            help="Kept in this tab only, and deleted when the tab is closed."
          />
          {refusal && (
            <p role="alert" className="refusal">
              {refusal}
            </p>
          )}
          <Action type="submit" kind={demo ? 'plain' : 'primary'} isPending={isChecking}>
            Sign in
          </Action>
        </Form>
      </div>
    </main>
  );
}
