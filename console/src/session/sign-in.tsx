/** The page for a user who has not signed in. */
import { useEffect, useState } from 'react';
import { graphql } from 'react-relay';
import { getRequest } from 'relay-runtime';
import { fetchGraphql, getDocumentId } from '../network/fetch-graphql.ts';
import { toProblem } from '../network/problem.ts';
import { Action, Form, type FormValues, TextInput } from '../parts/form.tsx';
import {
  createSignInLink,
  readSignInState,
  type SignInState,
  signInLocally,
} from './browser-session.ts';
import {
  BROWSER_SESSION,
  type Credential,
  createHeaders,
  type DemoCredentials,
  findDemoCredentials,
} from './credential.ts';

const VIEWER = graphql`
  query signInQuery {
    viewer {
      kind
    }
  }
`;

async function checkCredential(credential: string): Promise<void> {
  const documentId = getDocumentId(getRequest(VIEWER).params);
  await fetchGraphql({ documentId, variables: {}, isMutation: true }, createHeaders(credential));
}

interface SignInProps {
  /** The reason why an earlier session ended. */
  reason: string | null;
  onSignedIn: (credential: Credential) => void;
}

export function SignIn({ reason, onSignedIn }: SignInProps) {
  const [demo, setDemo] = useState<DemoCredentials | null>(null);
  const [state, setState] = useState<SignInState | null>(null);
  const [isChecking, setChecking] = useState(false);
  const [refusal, setRefusal] = useState<string | null>(reason);
  useEffect(() => {
    document.title = 'Sign in · Console';
    void findDemoCredentials().then(setDemo);
    void readSignInState().then(setState);
  }, []);

  const signIn = async (...credentials: string[]) => {
    setChecking(true);
    setRefusal(null);
    for (const credential of credentials) {
      try {
        await checkCredential(credential);
        return onSignedIn(credential);
      } catch (error) {
        const { code, message } = toProblem(error);
        setRefusal(code === 'UNAUTHENTICATED' ? "That key or token isn't valid." : message);
      }
    }
    setChecking(false);
  };
  const enterDemo = ({ bearerToken, apiKey }: DemoCredentials) =>
    signIn(...(bearerToken ? [bearerToken] : []), apiKey);

  const hasPersonalSignIn = state !== null && (state.issuers.length > 0 || state.hasLocalSignIn);
  const keyForm = (
    <KeyForm isChecking={isChecking} isMain={!demo && !hasPersonalSignIn} onSubmit={signIn} />
  );
  return (
    <main className="sign-in">
      <div className="card">
        <h1>Sign in to the console</h1>
        {refusal && (
          <p role="alert" className="refusal">
            {refusal}
          </p>
        )}
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
        {hasPersonalSignIn && (
          <div className="people">
            {state.issuers.map(({ name, url }) => (
              <a key={url} className="action primary" href={createSignInLink(url)}>
                Sign in with {name}
              </a>
            ))}
            {state.hasLocalSignIn && <LocalForm onSignedIn={() => onSignedIn(BROWSER_SESSION)} />}
          </div>
        )}
        {hasPersonalSignIn ? (
          <details>
            <summary>Sign in with an API key or a token</summary>
            {keyForm}
          </details>
        ) : (
          keyForm
        )}
        {state && !hasPersonalSignIn && !demo && (
          <p className="quiet">
            To sign in with an email address, set <code>SIGN_IN_ISSUERS</code> of the gateway, or{' '}
            <code>LOCAL_ISSUER_PASSWORD</code> for development.
          </p>
        )}
      </div>
    </main>
  );
}

interface KeyFormProps {
  isChecking: boolean;
  /** True if the page offers no other way to sign in. */
  isMain: boolean;
  onSubmit: (credential: string) => unknown;
}

function KeyForm({ isChecking, isMain, onSubmit }: KeyFormProps) {
  return (
    <Form onSubmit={({ credential }) => onSubmit(String(credential).trim())}>
      <TextInput
        name="credential"
        label="API key or bearer token"
        type="password"
        isRequired
        help="Kept in this tab only, and deleted when the tab is closed."
      />
      <Action type="submit" kind={isMain ? 'primary' : 'plain'} isPending={isChecking}>
        Sign in
      </Action>
    </Form>
  );
}

/** The sign-in at the local issuer, for development. */
function LocalForm({ onSignedIn }: { onSignedIn: () => void }) {
  const [isPending, setPending] = useState(false);
  const [refusal, setRefusal] = useState<string | null>(null);
  const submit = async ({ email, name, password }: FormValues) => {
    setPending(true);
    setRefusal(null);
    const fullName = String(name).trim();
    const reason = await signInLocally({
      email: String(email).trim(),
      password: String(password),
      ...(fullName && { name: fullName }),
    });
    if (reason === null) return onSignedIn();
    setRefusal(reason);
    setPending(false);
  };
  return (
    <Form onSubmit={submit}>
      <TextInput name="email" label="Email address" type="email" isRequired />
      <TextInput name="name" label="Name" />
      <TextInput
        name="password"
        label="Password of the local issuer"
        type="password"
        isRequired
        help="The gateway’s LOCAL_ISSUER_PASSWORD. For development: everyone shares it."
      />
      {refusal && (
        <p role="alert" className="refusal">
          {refusal}
        </p>
      )}
      <Action type="submit" kind="primary" isPending={isPending}>
        Continue
      </Action>
    </Form>
  );
}
