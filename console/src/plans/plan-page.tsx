/** One plan: its consequences, and the button that applies it. */
import { graphql } from 'react-relay';
import type { planPageApplyMutation } from '../../__generated__/planPageApplyMutation.graphql.ts';
import type { planPageQuery } from '../../__generated__/planPageQuery.graphql.ts';
import { Copyable } from '../parts/copy.tsx';
import { FormDialog } from '../parts/dialog.tsx';
import { useProjectLink } from '../parts/filters.tsx';
import { TextInput } from '../parts/form.tsx';
import { NotFound, Page, Panel } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { Facts } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import type { ConsolePageProps } from '../shell/pages.ts';
import { PlanResult } from './plan-result.tsx';

const PAGE_QUERY = graphql`
  query planPageQuery($id: ID!) {
    node(id: $id) {
      ... on Plan @alias(as: "plan") {
        id
        createTime
        applyTime
        expireTime
        allowDeletions
        requiredSecrets
        findings {
          severity
        }
        impacts {
          installations {
            installationId
          }
        }
        contractChanges {
          severity
        }
        changes {
          action
        }
        ...planResult_plan
      }
    }
  }
`;

const APPLY_PLAN = graphql`
  mutation planPageApplyMutation($input: ApplyPlanInput!) {
    applyPlan(input: $input) {
      plan {
        id
        applyTime
      }
    }
  }
`;

export default function PlanPage({ project, id = '' }: ConsolePageProps) {
  const variables = { id };
  const plan = usePageQuery<planPageQuery>(PAGE_QUERY, variables).node?.plan;
  const linkTo = useProjectLink(project);
  if (!plan) return <NotFound noun="plan" />;
  const isRefused = plan.findings.some(({ severity }) => severity === 'ERROR');
  const canApply = !plan.applyTime && !isRefused && plan.changes.length > 0;
  const installationIds = plan.impacts.flatMap(({ installations }) =>
    installations.map(({ installationId }) => installationId),
  );
  const brokenCount = new Set(installationIds).size;
  const breakingCount = plan.contractChanges.filter(
    ({ severity }) => severity === 'BREAKING',
  ).length;
  const deletionCount = plan.changes.filter(({ action }) => action === 'DELETE').length;
  return (
    <Page
      title="Plan"
      actions={
        canApply && (
          <Apply
            project={project}
            id={plan.id}
            secrets={plan.requiredSecrets}
            brokenCount={brokenCount}
            breakingCount={breakingCount}
            deletionCount={deletionCount}
          />
        )
      }
      query={PAGE_QUERY}
      variables={variables}
    >
      <Panel>
        <Facts
          facts={{
            Planned: <Time value={plan.createTime} />,
            Applied: plan.applyTime && <Time value={plan.applyTime} />,
            Expires: plan.applyTime ? null : <Time value={plan.expireTime} />,
            Deletions: plan.allowDeletions
              ? 'Objects that are missing from a section of the document'
              : null,
            ID: <Copyable value={plan.id} label="ID" />,
          }}
        />
      </Panel>
      <PlanResult plan={plan} linkTo={linkTo} />
    </Page>
  );
}

interface ApplyProps {
  project: string;
  id: string;
  /** Paths of secret values, which the document does not contain. */
  secrets: readonly string[];
  brokenCount: number;
  breakingCount: number;
  deletionCount: number;
}

function Apply(props: ApplyProps) {
  const { project, id, secrets, brokenCount, breakingCount, deletionCount } = props;
  const isDestructive = brokenCount + breakingCount + deletionCount > 0;
  return (
    <FormDialog<planPageApplyMutation>
      triggerLabel="Apply"
      title="Apply the plan?"
      kind={isDestructive ? 'danger' : 'primary'}
      mutation={APPLY_PLAN}
      variables={(values) => ({
        input: {
          projectIdOrName: project,
          planId: id,
          secrets: secrets.map((path) => ({ path, value: String(values[path]) })),
        },
      })}
      submitLabel="Apply"
    >
      <p>All changes are applied, or none if one of them fails.</p>
      {brokenCount > 0 && <p className="strong">Installations that break: {brokenCount}.</p>}
      {breakingCount > 0 && (
        <p className="strong">Breaking changes of the contract: {breakingCount}.</p>
      )}
      {deletionCount > 0 && <p className="strong">Objects that are deleted: {deletionCount}.</p>}
      {secrets.map((path) => (
        <TextInput key={path} name={path} label={path} type="password" isRequired />
      ))}
    </FormDialog>
  );
}
