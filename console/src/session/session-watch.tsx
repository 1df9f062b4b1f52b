/** Extends the browser session while the user is active, and warns before it ends. */
import { useEffect, useRef, useState } from 'react';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { Action } from '../parts/form.tsx';
import {
  type BrowserSession,
  extendSession,
  onSignedOutElsewhere,
  readSignInState,
} from './browser-session.ts';

const WARNING_MS = 120_000;
/** The minimum time between two extensions. */
const EXTENSION_MS = 60_000;
/** The delay before the next attempt if the gateway is unreachable. */
const RETRY_MS = 10_000;
/** The maximum delay of a timer. Browsers overflow after 24 days. */
const TIMER_MS_MAX = 3_600_000;

interface Warning {
  endMs: number;
  isExtensible: boolean;
}

interface SessionWatchProps {
  onEnded: () => void;
  onSignOut: () => void;
}

export function SessionWatch({ onEnded, onSignOut }: SessionWatchProps) {
  const [warning, setWarning] = useState<Warning | null>(null);
  const [isHidden, setHidden] = useState(false);
  const watch = useRef<Watch>(undefined);

  useEffect(() => {
    watch.current = watchSession({ onEnded, onWarning: setWarning });
    return watch.current.stop;
  }, [onEnded]);

  if (!warning || isHidden) return null;
  return (
    <ModalOverlay className="overlay" isOpen>
      <Modal className="modal">
        <Dialog className="dialog" role="alertdialog">
          <Heading slot="title">Your session is about to end</Heading>
          <p>
            You will be signed out in <Countdown endMs={warning.endMs} />.{' '}
            {warning.isExtensible
              ? 'Unsaved input is lost then.'
              : 'It can no longer be extended. Save your work, and sign in again.'}
          </p>
          <div className="row end">
            <Action onPress={onSignOut}>Sign out</Action>
            {warning.isExtensible ? (
              <Action kind="primary" onPress={() => watch.current?.extend()} autoFocus>
                Stay signed in
              </Action>
            ) : (
              <Action kind="primary" onPress={() => setHidden(true)} autoFocus>
                Continue
              </Action>
            )}
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function Countdown({ endMs }: { endMs: number }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.round((endMs - now) / 1_000));
  return (
    <strong className="number">
      {Math.floor(seconds / 60)}:{String(seconds % 60).padStart(2, '0')}
    </strong>
  );
}

interface Watch {
  extend: () => void;
  stop: () => void;
}

interface Listeners {
  onEnded: () => void;
  /** The next warning. Null if there is none. */
  onWarning: (warning: Warning | null) => void;
}

function watchSession({ onEnded, onWarning }: Listeners): Watch {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let extendedMs = Date.now();
  let isWarned = false;
  let isStopped = false;

  const schedule = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => void check(), Math.min(ms, TIMER_MS_MAX));
  };
  const update = (state: { session: BrowserSession | null } | null) => {
    if (isStopped) return;
    if (!state) return schedule(RETRY_MS);
    if (!state.session) return onEnded();
    const { secondsLeft, isExtensible } = state.session;
    const leftMs = secondsLeft * 1_000;
    isWarned = leftMs <= WARNING_MS;
    onWarning(isWarned ? { endMs: Date.now() + leftMs, isExtensible } : null);
    schedule(isWarned ? leftMs + 1_000 : leftMs - WARNING_MS);
  };
  // Another tab may have extended the session, so its state is loaded again before a warning.
  const check = async () => update(await readSignInState());
  const extend = async () => {
    extendedMs = Date.now();
    update(await extendSession());
  };
  const recordActivity = () => {
    // During a warning, activity does not extend the session. The user decides.
    if (!isWarned && Date.now() - extendedMs >= EXTENSION_MS) void extend();
  };
  const checkVisible = () => {
    if (!document.hidden) void check();
  };
  document.addEventListener('pointerdown', recordActivity);
  document.addEventListener('keydown', recordActivity);
  document.addEventListener('visibilitychange', checkVisible);
  const removeListener = onSignedOutElsewhere(onEnded);
  void check();
  return {
    extend: () => void extend(),
    stop() {
      isStopped = true;
      clearTimeout(timer);
      document.removeEventListener('pointerdown', recordActivity);
      document.removeEventListener('keydown', recordActivity);
      document.removeEventListener('visibilitychange', checkVisible);
      removeListener();
    },
  };
}
