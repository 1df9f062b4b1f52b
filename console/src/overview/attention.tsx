/** Items that need a person, with the acknowledgements that the members of the org share. */
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { attentionAcknowledgeMutation } from '../../__generated__/attentionAcknowledgeMutation.graphql.ts';
import type { attentionQuery } from '../../__generated__/attentionQuery.graphql.ts';
import type { attentionReopenMutation } from '../../__generated__/attentionReopenMutation.graphql.ts';
import { Action, Refusal } from '../parts/form.tsx';
import { getIntegrationName } from '../parts/integration-name.ts';
import { Panel } from '../parts/page.tsx';
import { Principal } from '../parts/principal.tsx';
import { useProviderNames } from '../parts/provider-mark.tsx';
import { useChange, usePageQuery } from '../parts/queries.ts';
import { Elapsed, Time } from '../parts/time.tsx';
import { formatSince, getFirstHour, HOUR_MS, HOURS } from './first-hour.ts';

const QUERY = graphql`
  query attentionQuery($project: String!, $from: DateTime!) {
    project(idOrName: $project) {
      attentionItems {
        kind
        objectName
        detail
        startTime
        lastTime
        count
        acknowledgedBy
        acknowledgeTime
        subject {
          id
          ... on Destination {
            name
          }
          ... on ConnectedAccount {
            provider
            group {
              groupName
            }
          }
          ... on Installation {
            integration {
              ...integrationName_integration @relay(mask: false)
            }
            group {
              groupName
            }
          }
          ... on Provider {
            name
            displayName
          }
        }
      }
      activity(from: $from, bucket: HOUR) {
        operations {
          startTime
          status
          count
        }
      }
    }
  }
`;

const ACKNOWLEDGE_ATTENTION_ITEM = graphql`
  mutation attentionAcknowledgeMutation($input: AcknowledgeAttentionItemInput!) {
    acknowledgeAttentionItem(input: $input) {
      attentionItem {
        acknowledgedBy
      }
    }
  }
`;

const REOPEN_ATTENTION_ITEM = graphql`
  mutation attentionReopenMutation($input: ReopenAttentionItemInput!) {
    reopenAttentionItem(input: $input) {
      attentionItem {
        acknowledgedBy
      }
    }
  }
`;

const POLL_MS = 10_000;
const DAY_MS = HOURS * HOUR_MS;
/** The number of items that are shown before "Show more". */
const SHOWN_ITEMS = 8;
/** The highest count that the gateway returns. */
const COUNT_MAX = 500;

/** Kinds whose text says what to do. The texts of other kinds end with how long the problem lasts. */
const REQUEST_KINDS = ['CONNECTION_BAD_CREDENTIALS', 'CONNECTION_UNREFRESHABLE'];
const COUNTED_KINDS = ['PROPOSALS_PENDING', 'OPERATIONS_FAILED', 'DELIVERIES_FAILED'];

type Attention = NonNullable<attentionQuery['response']['project']>;
type Item = Attention['attentionItems'][number];

interface AttentionProps {
  project: string;
  linkTo: (path: string) => string;
}

export default function AttentionPanel({ project: projectIdOrName, linkTo }: AttentionProps) {
  const dayStartMs = getFirstHour();
  const variables = { project: projectIdOrName, from: new Date(dayStartMs - DAY_MS).toISOString() };
  const { project } = usePageQuery<attentionQuery>(QUERY, variables, { everyMs: POLL_MS });
  const acknowledge = useChange<attentionAcknowledgeMutation>(ACKNOWLEDGE_ATTENTION_ITEM);
  const reopen = useChange<attentionReopenMutation>(REOPEN_ATTENTION_ITEM);
  if (!project) return null;
  const toInput = ({ kind, subject, objectName }: Item) => ({
    projectIdOrName,
    kind,
    subjectId: subject.id,
    objectName,
  });
  const openItems = project.attentionItems.filter(({ acknowledgeTime }) => !acknowledgeTime);
  const acknowledgedItems = project.attentionItems.filter(({ acknowledgeTime }) => acknowledgeTime);
  const renderItems = (items: Item[]) => (
    <ul className="plain-list">
      {items.map((item) => (
        <AttentionLine
          key={`${item.kind} ${item.subject.id} ${item.objectName}`}
          item={item}
          linkTo={linkTo}
          onAcknowledge={() =>
            acknowledge.run({ input: { ...toInput(item), lastTime: item.lastTime } })
          }
          onReopen={() => reopen.run({ input: toInput(item) })}
        />
      ))}
    </ul>
  );
  return (
    <Panel title="Needs attention">
      {openItems.length === 0 ? (
        <p>
          <span className="status good">Nothing needs attention</span>
        </p>
      ) : (
        renderItems(openItems.slice(0, SHOWN_ITEMS))
      )}
      {openItems.length > SHOWN_ITEMS && (
        <details>
          <summary>Show {openItems.length - SHOWN_ITEMS} more</summary>
          {renderItems(openItems.slice(SHOWN_ITEMS))}
        </details>
      )}
      <Refusal problem={acknowledge.problem ?? reopen.problem} />
      <p className="quiet">
        {formatTrend(
          countOperations(project, (timeMs) => timeMs >= dayStartMs),
          countOperations(project, (timeMs) => timeMs < dayStartMs),
          formatSince(dayStartMs),
        )}
      </p>
      {acknowledgedItems.length > 0 && (
        <details>
          <summary>{acknowledgedItems.length} acknowledged</summary>
          {renderItems(acknowledgedItems)}
        </details>
      )}
    </Panel>
  );
}

interface AttentionLineProps {
  item: Item;
  linkTo: AttentionProps['linkTo'];
  onAcknowledge: () => void;
  onReopen: () => void;
}

function AttentionLine({ item, linkTo, onAcknowledge, onReopen }: AttentionLineProps) {
  const { text, path } = describeItem(item, useProviderNames());
  const isCounted = COUNTED_KINDS.includes(item.kind);
  const { detail, startTime, lastTime, acknowledgedBy, acknowledgeTime } = item;
  const [label, onPress] = acknowledgedBy ? ['Reopen', onReopen] : ['Acknowledge', onAcknowledge];
  return (
    <li>
      <span className="attentive">
        <Link href={linkTo(path)} className="strong">
          {text}
        </Link>{' '}
        <span className="quiet">
          {acknowledgedBy ? (
            <>
              acknowledged by <Principal value={acknowledgedBy} /> <Time value={acknowledgeTime} />
            </>
          ) : (
            <>
              {isCounted ? (
                <>
                  · latest <Time value={lastTime} />
                </>
              ) : (
                <>
                  {REQUEST_KINDS.includes(item.kind) && '· '}for <Elapsed since={startTime} />
                </>
              )}
              {detail && ` · ${detail}`}
            </>
          )}
        </span>
      </span>
      <Action kind="quiet" aria-label={`${label}: ${text}`} onPress={onPress}>
        {label}
      </Action>
    </li>
  );
}

/** Describes the item in a sentence, and names the page that shows its cause. */
function describeItem(
  { kind, subject, objectName, count }: Item,
  getProviderName: (provider: string) => string,
): { text: string; path: string } {
  const { id, name, provider, displayName, integration } = subject;
  const integrationName = integration && getIntegrationName(integration);
  const customer = subject.group?.groupName;
  switch (kind) {
    case 'DESTINATION_FAILING':
      return { text: `${name} has been failing`, path: `destinations/${id}` };
    case 'CONNECTION_BAD_CREDENTIALS':
      return {
        text: `${customer} must reconnect ${getProviderName(provider ?? '')}`,
        path: `connections/${id}`,
      };
    case 'CONNECTION_UNREFRESHABLE':
      return {
        text: `${customer} must reconnect ${getProviderName(provider ?? '')}: the connection has no refresh token`,
        path: `connections/${id}`,
      };
    case 'INSTALLATION_UNHEALTHY':
      return {
        text: `${integrationName} for ${customer} has been unhealthy`,
        path: `installations/${id}`,
      };
    case 'SETUP_FAILED':
      return {
        text: `Customers haven't been able to connect ${displayName}`,
        path: `providers/${name}`,
      };
    case 'READ_PAUSED':
      return {
        text: `Reads of ${objectName} for ${customer} have been paused`,
        path: `installations/${id}`,
      };
    case 'PROPOSALS_PENDING':
      return {
        text: formatCount(count, 'proposal waits for approval', 'proposals wait for approval'),
        path: 'agents?status=PENDING',
      };
    case 'OPERATIONS_FAILED':
      return {
        text: formatCount(count, 'operation failed', 'operations failed'),
        path: 'operations?status=FAILED&time=day',
      };
    case 'DELIVERIES_FAILED':
      return {
        text: formatCount(count, 'delivery failed permanently', 'deliveries failed permanently'),
        path: 'deliveries?status=FAILED&time=day',
      };
    // A newer gateway may have further kinds.
    default:
      return { text: kind, path: '' };
  }
}

function formatCount(count: number, singular: string, plural: string): string {
  return `${count}${count >= COUNT_MAX ? '+' : ''} ${count === 1 ? singular : plural}`;
}

interface OutcomeCounts {
  succeeded: number;
  failed: number;
}

function countOperations(
  { activity }: Attention,
  isCounted: (timeMs: number) => boolean,
): OutcomeCounts {
  const countStatus = (status: string) =>
    activity.operations
      .filter((bucket) => bucket.status === status && isCounted(Date.parse(bucket.startTime)))
      .reduce((sum, { count }) => sum + count, 0);
  return { succeeded: countStatus('SUCCEEDED'), failed: countStatus('FAILED') };
}

/** Returns the percentage of ended operations that succeeded. Null if none has ended. */
function computeRate({ succeeded, failed }: OutcomeCounts): number | null {
  const endedCount = succeeded + failed;
  return endedCount === 0 ? null : (100 * succeeded) / endedCount;
}

const percent = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

function formatTrend(today: OutcomeCounts, yesterday: OutcomeCounts, since: string): string {
  const rate = computeRate(today);
  if (rate === null) return `No operations ended ${since}.`;
  const before = computeRate(yesterday);
  const share = `${percent.format(rate)}% of operations succeeded ${since}`;
  return before === null ? `${share}.` : `${share}, ${percent.format(before)}% the day before.`;
}
