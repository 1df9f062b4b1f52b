/** Requests that the gateway sent to a provider, with their responses, for an operation or for a connection. */
import { graphql, useFragment } from 'react-relay';
import type { recordedRequests_request$key } from '../../__generated__/recordedRequests_request.graphql.ts';
import type { recordedRequestsConnectionQuery } from '../../__generated__/recordedRequestsConnectionQuery.graphql.ts';
import type { recordedRequestsOperationQuery } from '../../__generated__/recordedRequestsOperationQuery.graphql.ts';
import { Empty, Loaded, Panel } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { Json } from '../parts/table.tsx';
import { ClockTime } from '../parts/time.tsx';

const REQUEST = graphql`
  fragment recordedRequests_request on RecordedRequest @relay(plural: true) {
    createTime
    method
    host
    path
    responseStatus
    error
    durationMs
    requestHeaders
    responseHeaders
    responseBody
  }
`;

const OPERATION = graphql`
  query recordedRequestsOperationQuery($id: ID!) {
    node(id: $id) {
      ... on Operation {
        requests {
          nodes {
            ...recordedRequests_request
          }
        }
      }
    }
  }
`;

const CONNECTION = graphql`
  query recordedRequestsConnectionQuery($id: ID!) {
    node(id: $id) {
      ... on ConnectedAccount {
        requests(first: 20) {
          nodes {
            ...recordedRequests_request
          }
        }
      }
    }
  }
`;

const NOT_ALLOWED = (
  <Empty title="Requests not available">Reading requests requires the payloads:read scope.</Empty>
);

interface RequestsProps {
  id: string;
}

export function OperationRequests({ id }: RequestsProps) {
  return (
    <Panel title="Requests to the provider">
      <Loaded resetKey={`requests of ${id}`} errorFallback={NOT_ALLOWED}>
        <OperationRequestList id={id} />
      </Loaded>
    </Panel>
  );
}

export function ConnectionRequests({ id }: RequestsProps) {
  return (
    <Panel title="Requests outside operations">
      <p className="quiet">Token requests, and failed requests that belong to no operation.</p>
      <Loaded resetKey={`requests of ${id}`} errorFallback={NOT_ALLOWED}>
        <ConnectionRequestList id={id} />
      </Loaded>
    </Panel>
  );
}

/** Requests are stored shortly after the work that sent them. */
const POLL_MS = 3_000;

function OperationRequestList({ id }: RequestsProps) {
  const variables = { id };
  const { node } = usePageQuery<recordedRequestsOperationQuery>(OPERATION, variables, {
    everyMs: POLL_MS,
    needsAll: true,
  });
  return <RequestLines requests={node?.requests?.nodes ?? []} />;
}

function ConnectionRequestList({ id }: RequestsProps) {
  const variables = { id };
  const { node } = usePageQuery<recordedRequestsConnectionQuery>(CONNECTION, variables, {
    everyMs: POLL_MS,
    needsAll: true,
  });
  return <RequestLines requests={node?.requests?.nodes ?? []} />;
}

/** The lowest status that is recorded as a failure. */
const FAILED_STATUS = 300;

function RequestLines({ requests }: { requests: recordedRequests_request$key }) {
  const lines = useFragment(REQUEST, requests);
  if (lines.length === 0) {
    return (
      <Empty title="No requests recorded">
        The gateway keeps requests for 72 hours by default.
      </Empty>
    );
  }
  return (
    <ol className="lines">
      {lines.map(({ createTime, method, host, path, responseStatus, ...request }) => {
        const isFailed = responseStatus == null || responseStatus >= FAILED_STATUS;
        return (
          <li key={`${createTime} ${method} ${path}`}>
            <ClockTime value={createTime} />
            <span className={`status ${isFailed ? 'bad' : 'good'}`}>
              {responseStatus ?? 'No response'}
            </span>
            <code className="address">
              {method} {path}
            </code>
            <span className="quiet">
              {host}, {request.durationMs.toLocaleString('en')} ms
            </span>
            {request.error && <span className="whole">{request.error}</span>}
            {request.responseBody && (
              <section
                className="json whole"
                // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
                tabIndex={0}
                aria-label={`Response to ${method} ${path}`}
              >
                <pre>{request.responseBody}</pre>
              </section>
            )}
            <details className="whole">
              <summary>Headers</summary>
              <p className="quiet">Request</p>
              <Json value={request.requestHeaders} label={`Headers of ${method} ${path}`} />
              {request.responseHeaders && (
                <>
                  <p className="quiet">Response</p>
                  <Json
                    value={request.responseHeaders}
                    label={`Headers of the response to ${method} ${path}`}
                  />
                </>
              )}
            </details>
          </li>
        );
      })}
    </ol>
  );
}
