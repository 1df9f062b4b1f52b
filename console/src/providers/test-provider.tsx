/** Reads a page of each object of an account, and shows the requests. Nothing is written or stored. */
import { graphql, useFragment } from 'react-relay';
import type { testProvider_connections$key } from '../../__generated__/testProvider_connections.graphql.ts';
import type {
  testProviderMutation,
  testProviderMutation$data,
} from '../../__generated__/testProviderMutation.graphql.ts';
import { FormDialog } from '../parts/dialog.tsx';
import { Choice } from '../parts/form.tsx';
import { Status } from '../parts/status.tsx';
import { Json } from '../parts/table.tsx';

const CONNECTIONS = graphql`
  fragment testProvider_connections on ConnectedAccountConnection {
    nodes {
      id
      group {
        groupName
      }
      consumer {
        consumerName
      }
    }
  }
`;

const TEST_PROVIDER = graphql`
  mutation testProviderMutation($input: TestProviderInput!) {
    testProvider(input: $input) {
      objects {
        objectName
        recordCount
        hasNextPage
        problem
        sample
        requests {
          method
          host
          path
          requestHeaders
          requestBody
          responseStatus
          responseBody
          error
          durationMs
        }
      }
      untestedObjects
    }
  }
`;

type Result = NonNullable<testProviderMutation$data['testProvider']>;
type TestedObject = Result['objects'][number];

interface TestProviderProps {
  project: string;
  connections: testProvider_connections$key;
}

/** A test needs an account, so there is no button until a customer has connected one. */
export function TestProvider({ project: projectIdOrName, connections }: TestProviderProps) {
  const { nodes } = useFragment(CONNECTIONS, connections);
  const [first] = nodes;
  if (!first) return null;
  return (
    <FormDialog<testProviderMutation>
      triggerLabel="Test"
      title="Test provider"
      submitLabel="Read one page of each object"
      mutation={TEST_PROVIDER}
      variables={({ connectionId }) => ({
        input: { projectIdOrName, connectionId: String(connectionId) },
      })}
      skipRefetch
      renderResult={({ testProvider }) => <TestResult result={testProvider} />}
    >
      <Choice
        name="connectionId"
        label="Account"
        options={nodes.map(({ id, group, consumer }) => ({
          id,
          label: `${group.groupName}, ${consumer.consumerName}`,
        }))}
        defaultValue={first.id}
        isRequired
      />
      <p className="quiet">
        Nothing is written to the account. Credentials and values of records are shown as ***.
      </p>
    </FormDialog>
  );
}

function TestResult({ result: { objects, untestedObjects } }: { result: Result }) {
  return (
    <section aria-label="Result of the test">
      {objects.map((object) => (
        <ObjectResult key={object.objectName} object={object} />
      ))}
      {untestedObjects.length > 0 && <p>Not tested: {untestedObjects.join(', ')}.</p>}
    </section>
  );
}

function ObjectResult({ object }: { object: TestedObject }) {
  const { objectName, recordCount, hasNextPage, problem, sample, requests } = object;
  return (
    <section>
      <h3>
        {objectName} <Status value={problem == null ? 'SUCCEEDED' : 'FAILED'} />
      </h3>
      <p>
        {problem ??
          `${recordCount === 1 ? '1 record' : `${recordCount ?? 0} records`}${hasNextPage ? ', and more pages follow' : ''}.`}
      </p>
      {sample && <Json value={sample} label={`First record of ${objectName}`} />}
      <details>
        <summary>Requests ({requests.length})</summary>
        <ol className="lines">
          {requests.map((request, index) => (
            <RequestLine key={index} request={request} />
          ))}
        </ol>
      </details>
    </section>
  );
}

/** The lowest status that is shown as a failure. */
const FAILED_STATUS = 300;

function RequestLine({ request }: { request: TestedObject['requests'][number] }) {
  const { method, host, path, responseStatus, responseBody, durationMs, error } = request;
  const isFailed = responseStatus == null || responseStatus >= FAILED_STATUS;
  const name = `${method} ${path}`;
  return (
    <li>
      <span className={`status ${isFailed ? 'bad' : 'good'}`}>
        {responseStatus ?? 'No response'}
      </span>
      <code className="address">{name}</code>
      <span className="quiet">
        {host}, {durationMs.toLocaleString('en')} ms
      </span>
      {error && <span className="whole">{error}</span>}
      <details className="whole">
        <summary>Request and response</summary>
        <Json value={request.requestHeaders} label={`Headers of ${name}`} />
        {request.requestBody && <Body label={`Body of ${name}`} text={request.requestBody} />}
        {responseBody && <Body label={`Response to ${name}`} text={responseBody} />}
      </details>
    </li>
  );
}

function Body({ label, text }: { label: string; text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    <section className="json" tabIndex={0} aria-label={label}>
      <pre>{text}</pre>
    </section>
  );
}
