/** Leads from an empty project to a first record and a first API call, step by step. */
import { Link } from 'wouter';
import { ConnectCustomer } from '../connections/connect-customer.tsx';
import { useProjectLink } from '../parts/filters.tsx';
import { getIntegrationName } from '../parts/integration-name.ts';
import { NotFound, Page } from '../parts/page.tsx';
import { useProviderNames } from '../parts/provider-mark.tsx';
import { NewApiKey } from '../settings/new-api-key.tsx';
import type { ConsolePageProps } from '../shell/pages.ts';
import { BackendCalls } from './backend-calls.tsx';
import { FirstRecords } from './first-records.tsx';
import { PROGRESS, type ProjectProgress, type Step, useProgress } from './progress.ts';
import { TestAccount } from './test-account.tsx';

const POLL_MS = 1_500;

type Integration = ProjectProgress['integrations']['nodes'][number];
type Installation = ProjectProgress['installations']['nodes'][number];

export default function StartPage({ project: projectIdOrName }: ConsolePageProps) {
  const progress = useProgress(projectIdOrName, POLL_MS);
  if (!progress) return <NotFound noun="project" />;
  const { project, steps } = progress;
  const nextStep = steps.find(({ isDone }) => !isDone);
  return (
    <Page
      title="Get started"
      description="From an empty project to a first record and a first call."
      query={PROGRESS}
      variables={{ project: projectIdOrName }}
    >
      {steps.map((step, index) => (
        <section key={step.id} className="card step" aria-labelledby={`step-${step.id}`}>
          <h2 id={`step-${step.id}`}>
            <span className={step.isDone ? 'badge done' : 'badge'} aria-hidden="true">
              {step.isDone ? '✓' : index + 1}
            </span>
            {step.title}
            <span className="hidden">{step.isDone ? ' (done)' : ' (open)'}</span>
          </h2>
          <StepContent
            step={step}
            nextStep={nextStep}
            projectIdOrName={projectIdOrName}
            project={project}
          />
        </section>
      ))}
    </Page>
  );
}

interface StepContentProps {
  step: Step;
  /** The first open step. Its button is the primary one of the page. */
  nextStep: Step | undefined;
  projectIdOrName: string;
  project: ProjectProgress;
}

function StepContent({ step, nextStep, projectIdOrName, project }: StepContentProps) {
  const [integration] = project.integrations.nodes;
  const [installation] = project.installations.nodes;
  const kind = step === nextStep ? 'primary' : 'plain';
  if (step.id === 'integration') {
    return <IntegrationStep projectIdOrName={projectIdOrName} integration={integration} />;
  }
  if (step.id === 'records' && installation) {
    return <FirstRecords project={projectIdOrName} installation={installation} />;
  }
  if (step.id === 'records' || !integration) {
    return <p className="quiet">Available after “{nextStep?.title ?? 'the steps above'}”.</p>;
  }
  const stepProps = { projectIdOrName, project, integration, installation, kind } as const;
  return step.id === 'account' ? <AccountStep {...stepProps} /> : <CallsStep {...stepProps} />;
}

interface IntegrationStepProps {
  projectIdOrName: string;
  integration: Integration | undefined;
}

function IntegrationStep({ projectIdOrName, integration }: IntegrationStepProps) {
  const linkTo = useProjectLink(projectIdOrName);
  const getProviderName = useProviderNames();
  if (!integration) {
    return (
      <>
        <p>An integration defines which objects of a provider you read and write.</p>
        <Link className="action primary" href={linkTo('new-integration')}>
          Choose a provider
        </Link>
      </>
    );
  }
  return (
    <p>
      <Link href={linkTo(`integrations/${encodeURIComponent(integration.name)}`)}>
        {getIntegrationName(integration)}
      </Link>{' '}
      {describeUse(integration)} {getProviderName(integration.provider)}.
    </p>
  );
}

/** Returns a verb phrase that the name of the provider completes. */
function describeUse({ latestRevision: { content } }: Integration): string {
  const isRead = (content.read?.objects.length ?? 0) > 0;
  const isWritten = (content.write?.objects?.length ?? 0) > 0;
  if (isRead && isWritten) return 'reads and writes records in';
  if (isRead) return 'reads records from';
  return isWritten ? 'writes records to' : 'has access to';
}

interface IntegratedStepProps {
  projectIdOrName: string;
  project: ProjectProgress;
  integration: Integration;
  installation: Installation | undefined;
  kind: 'primary' | 'plain';
}

function AccountStep({ projectIdOrName, integration, installation, kind }: IntegratedStepProps) {
  const objects = integration.latestRevision.content.read?.objects ?? [];
  const hasTestAccount = integration.provider === 'sandbox' && !installation;
  return (
    <>
      <p>
        A customer of yours (a <em>group</em>) connects an account and installs the integration.
      </p>
      <div className="row">
        {hasTestAccount && (
          <TestAccount
            project={projectIdOrName}
            integration={integration.name}
            objects={objects.map(({ objectName }) => objectName)}
          />
        )}
        <ConnectCustomer project={projectIdOrName} kind={hasTestAccount ? 'plain' : kind} />
      </div>
    </>
  );
}

function CallsStep({
  projectIdOrName,
  project,
  integration,
  installation,
  kind,
}: IntegratedStepProps) {
  const { read, write } = integration.latestRevision.content;
  const readObject = read?.objects[0];
  const writeObject = write?.objects?.find(
    ({ objectName }) => objectName === readObject?.objectName,
  );
  return (
    <>
      <p>
        Your backend calls the API with a key. Create one, and put it into the variable{' '}
        <code>GATEWAY_API_KEY</code>.
      </p>
      <NewApiKey project={project} projectIdOrName={projectIdOrName} preset="backend" kind={kind} />
      <BackendCalls
        integration={integration.name}
        objectName={readObject?.mapToName ?? readObject?.objectName ?? 'contacts'}
        isWritten={writeObject !== undefined}
        mappings={
          readObject && writeObject?.inheritMapping
            ? [...readObject.requiredFields, ...readObject.optionalFields]
            : []
        }
        groupRef={installation?.group.groupRef ?? 'customer-1'}
      />
    </>
  );
}
