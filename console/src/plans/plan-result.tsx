/**
 * The consequences of a plan: the customers whose installations it breaks, changes for code, and changes of
 * the project.
 */
import { graphql, useFragment } from 'react-relay';
import { Link } from 'wouter';
import type {
  planResult_plan$data,
  planResult_plan$key,
} from '../../__generated__/planResult_plan.graphql.ts';
import { type Labels, type Parts, printParts } from '../network/problem.ts';
import { Empty, Panel } from '../parts/page.tsx';
import { formatWords, Status } from '../parts/status.tsx';
import { TextDifference } from '../parts/text-difference.tsx';

/** The label of the check box that sets `allowDeletions` of a plan. */
export const DELETIONS_LABEL = 'Delete objects that are missing from a section of the document';
const PLAN_LABELS: Labels = new Map([['allowDeletions', DELETIONS_LABEL]]);

const PLAN = graphql`
  fragment planResult_plan on Plan {
    findings {
      path
      messageParts
      severity
    }
    impacts {
      integrationName
      path
      reason
      installationTotal
      installations {
        installationId
        group {
          groupName
        }
      }
    }
    contractChanges {
      message
      severity
    }
    changes {
      path
      action
      before
      after
    }
  }
`;

type Plan = planResult_plan$data;

interface PlanResultProps {
  plan: planResult_plan$key;
  linkTo: (path: string) => string;
}

export function PlanResult({ plan: key, linkTo }: PlanResultProps) {
  const plan = useFragment(PLAN, key);
  return (
    <>
      {plan.findings.length > 0 && (
        <Panel title="Findings">
          <ul className="issues">
            {plan.findings.map(({ path, messageParts, severity }) => {
              const message = printParts(messageParts as Parts, PLAN_LABELS);
              return (
                <li key={path + message}>
                  <Status value={severity} /> {path && <code>{path}</code>} {message}
                </li>
              );
            })}
          </ul>
        </Panel>
      )}
      <Panel title="Customers">
        <Impacts impacts={plan.impacts} linkTo={linkTo} />
      </Panel>
      <Panel title="Contract">
        <ContractChanges changes={plan.contractChanges} />
      </Panel>
      <Panel title={`Changes (${plan.changes.length})`}>
        {plan.changes.length === 0 ? (
          <Empty title="No changes">Applying the document would change nothing.</Empty>
        ) : (
          plan.changes.map(({ path, action, before, after }) => (
            <section key={path} className="plan-change">
              <h3>
                {formatWords(action)} <code>{path}</code>
              </h3>
              <TextDifference from={formatItem(before)} to={formatItem(after)} />
            </section>
          ))
        )}
      </Panel>
    </>
  );
}

const formatItem = (item: unknown) => (item ? JSON.stringify(item, null, 2) : '');

interface ImpactsProps {
  impacts: Plan['impacts'];
  linkTo: (path: string) => string;
}

/** Shows only some installations, because a reason may concern thousands. */
const INSTALLATIONS_SHOWN = 20;

function Impacts({ impacts, linkTo }: ImpactsProps) {
  if (impacts.length === 0) return <p>No installation breaks.</p>;
  return (
    <ul className="issues" aria-label="Impacts">
      {impacts.map(({ integrationName, path, reason, installationTotal, installations }) => (
        <li key={integrationName + path + reason}>
          <p>
            <strong>
              {installations.length} of {installationTotal}
            </strong>{' '}
            installations of <code>{integrationName}</code>: {path && <code>{path}</code>} {reason}
          </p>
          <p>
            {installations.slice(0, INSTALLATIONS_SHOWN).map(({ installationId, group }, index) => (
              <span key={installationId}>
                {index > 0 && ', '}
                <Link href={linkTo(`installations/${installationId}`)}>
                  {group?.groupName ?? installationId}
                </Link>
              </span>
            ))}
            {installations.length > INSTALLATIONS_SHOWN &&
              ` and ${installations.length - INSTALLATIONS_SHOWN} more`}
          </p>
        </li>
      ))}
    </ul>
  );
}

function ContractChanges({ changes }: { changes: Plan['contractChanges'] }) {
  if (changes.length === 0) return <p>The contract stays the same.</p>;
  return (
    <ul className="issues" aria-label="Changes of the contract">
      {changes.map(({ message, severity }) => (
        <li key={message}>
          <Status value={severity} /> {message}
        </li>
      ))}
    </ul>
  );
}
