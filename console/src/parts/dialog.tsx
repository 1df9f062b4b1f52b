/** Dialogs: a form in front of the page, and a question before what can't be undone. */
import { type ReactNode, useState } from 'react';
import {
  Dialog as AriaDialog,
  DialogTrigger,
  Heading,
  Modal,
  ModalOverlay,
} from 'react-aria-components';
import type { Problem } from '../network/problem.ts';
import { Action, Refusal } from './form.tsx';

interface DialogProps {
  /** The words of the button that opens it. */
  opener: string;
  kind?: 'primary' | 'plain' | 'danger' | 'quiet';
  title: string;
  children: (close: () => void) => ReactNode;
}

export function Dialog({ opener, kind = 'plain', title, children }: DialogProps) {
  return (
    <DialogTrigger>
      <Action kind={kind}>{opener}</Action>
      <ModalOverlay className="overlay" isDismissable>
        <Modal className="modal">
          <AriaDialog className="dialog">
            {({ close }) => (
              <>
                <Heading slot="title">{title}</Heading>
                {children(close)}
              </>
            )}
          </AriaDialog>
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
  );
}

interface ConfirmProps {
  opener: string;
  title: string;
  /** What it would break. */
  children: ReactNode;
  problem: Problem | null;
  isRunning: boolean;
  /** Resolves with null if it was refused. */
  onConfirm: () => Promise<unknown>;
}

export function Confirm({ opener, title, children, problem, isRunning, onConfirm }: ConfirmProps) {
  return (
    <Dialog opener={opener} kind="danger" title={title}>
      {(close) => (
        <>
          {children}
          <Refusal problem={problem} />
          <div className="row end">
            <Action onPress={close}>Cancel</Action>
            <Action
              kind="danger"
              isPending={isRunning}
              onPress={async () => {
                if ((await onConfirm()) !== null) close();
              }}
            >
              {opener}
            </Action>
          </div>
        </>
      )}
    </Dialog>
  );
}

/** A value that is shown once. */
export function Secret({ value, label }: { value: string; label: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(value);
    setCopied(true);
  };
  return (
    <div className="secret">
      <code data-label={label}>{value}</code>
      <Action onPress={copy}>{isCopied ? 'Copied' : 'Copy'}</Action>
    </div>
  );
}
