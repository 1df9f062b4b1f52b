/** Leads from an empty project to a first record and a first API call, step by step. */
import type { ReactNode } from 'react';
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
import { PROGRESS, type Step, useProgress } from './progress.ts';
import { TestAccount } from './test-account.tsx';

const POLL_MS = 1_500;

export default function StartPage({ project: idOrName }: ConsolePageProps) {
  const progress = useProgress(idOrName, POLL_MS);
  const getProviderName = useProviderNames();
  const linkTo = useProjectLink(idOrName);
  if (!progress) return <NotFound noun="project" />;
  const { project, steps } = progress;
  const [integration] = project.integrations.nodes;
  const [installation] = project.installations.nodes;
  const { read, write } = integration?.latestRevision.content ?? {};
  const objects = read?.objects ?? [];
  const [firstObject] = objects;
  const writtenObject = write?.objects?.find(
    ({ objectName }) => objectName === firstObject?.objectName,
  );
  const hasTestAccount = integration?.provider === 'sandbox' && !installation;
  const nextStep = steps.find(({ isDone }) => !isDone);
  const contents: Record<Step['id'], ReactNode> = {
    integration: integration ? (
      <p>
        <Link href={linkTo(`integrations/${encodeURIComponent(integration.name)}`)}>
          {getIntegrationName(integration)}
        </Link>{' '}
        reads and writes at {getProviderName(integration.provider)}.
      </p>
    ) : (
      <>
        <p>An integration says which objects of a provider you read and write.</p>
        <Link className="action primary" href={linkTo('new-integration')}>
          Choose a provider
        </Link>
      </>
    ),
    account: integration && (
      <>
        <p>
          A customer of yours (a <em>group</em>) connects an account and installs the integration.
        </p>
        <div className="row">
          {hasTestAccount && (
            <TestAccount
              project={idOrName}
              integration={integration.name}
              objects={objects.map(({ objectName }) => objectName)}
            />
          )}
          <ConnectCustomer
            project={idOrName}
            kind={nextStep?.id === 'account' && !hasTestAccount ? 'primary' : 'plain'}
          />
        </div>
      </>
    ),
    records: installation && <FirstRecords project={idOrName} installation={installation} />,
    calls: integration && (
      <>
        <p>
          Your backend calls the API with a key. Create one, and put it into the variable{' '}
          <code>GATEWAY_API_KEY</code>.
        </p>
        <NewApiKey
          project={project}
          idOrName={idOrName}
          preset="backend"
          kind={nextStep?.id === 'calls' ? 'primary' : 'plain'}
        />
        <BackendCalls
          integration={integration.name}
          objectName={firstObject?.mapToName ?? firstObject?.objectName ?? 'contacts'}
          isWritten={writtenObject !== undefined}
          mappings={
            firstObject && writtenObject?.inheritMapping
              ? [...firstObject.requiredFields, ...firstObject.optionalFields]
              : []
          }
          groupRef={installation?.group.groupRef ?? 'customer-1'}
        />
      </>
    ),
  };
  return (
    <Page
      title="Get started"
      description="From an empty project to a first record and a first call."
      query={PROGRESS}
      variables={{ project: idOrName }}
    >
      {steps.map(({ id, title, isDone }, index) => (
        <section key={id} className="card step" aria-labelledby={`step-${id}`}>
          <h2 id={`step-${id}`}>
            <span className={isDone ? 'badge done' : 'badge'} aria-hidden="true">
              {isDone ? '✓' : index + 1}
            </span>
            {title}
            <span className="hidden">{isDone ? ' (done)' : ' (open)'}</span>
          </h2>
          {contents[id] ?? (
            <p className="quiet">Follows after “{nextStep?.title ?? 'the steps above'}”.</p>
          )}
        </section>
      ))}
    </Page>
  );
}
