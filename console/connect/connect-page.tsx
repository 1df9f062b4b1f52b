/** The page on which an end user connects accounts and installs integrations. */
import { useMemo } from 'react';
import { RelayEnvironmentProvider } from 'react-relay';
import { createEnvironment } from '../src/network/environment.ts';
import { Loaded } from '../src/parts/page.tsx';
import { choosePageLocale, Localized } from './branding.tsx';
import { type ConsentResult, takeConsentResult } from './consent-redirect.ts';
import { Integrations } from './integrations.tsx';
import { useMessages } from './messages.ts';
import { framedProjectId, isFramed, notifyOpener } from './opener.ts';
import { readSession, type Session } from './session-token.ts';

export function ConnectPage() {
  return (
    <Localized locale={choosePageLocale(null)}>
      <OpenedPage />
    </Localized>
  );
}

function OpenedPage() {
  const messages = useMessages();
  const consentResult = useMemo(takeConsentResult, []);
  const session = useMemo(() => readSession(location.hash), []);
  if (!session) {
    return <Notice title={messages.linkIncomplete}>{messages.openPageAgain}</Notice>;
  }
  // The server let pages of one project frame this page, so tokens of other projects are refused.
  if (isFramed && framedProjectId !== session.projectId) {
    notifyOpener({
      type: 'failed',
      detail: 'The token belongs to another project than the frame.',
    });
    return <Notice title={messages.cannotBeFramed}>{messages.openInOwnWindow}</Notice>;
  }
  return <SignedIn session={session} consentResult={consentResult} />;
}

function SignedIn({
  session,
  consentResult,
}: {
  session: Session;
  consentResult: ConsentResult | null;
}) {
  const messages = useMessages();
  const environment = useMemo(
    () => createEnvironment({ authorization: `Bearer ${session.token}` }),
    [session],
  );
  return (
    <RelayEnvironmentProvider environment={environment}>
      <main className="connect">
        <Loaded
          resetKey="connect"
          errorFallback={<Notice title={messages.linkExpired}>{messages.linkExpiredHint}</Notice>}
        >
          <Integrations session={session} consentResult={consentResult} />
        </Loaded>
      </main>
    </RelayEnvironmentProvider>
  );
}

function Notice({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <div className="connect card empty" role="alert">
      <h1>{title}</h1>
      <p>{children}</p>
    </div>
  );
}
