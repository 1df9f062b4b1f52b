/** Dialogs: a form in front of the page, and a question before what can't be undone. */
import { type ReactNode, useState } from 'react';
import {
  Dialog as AriaDialog,
  DialogTrigger,
  Heading,
  Modal,
  ModalOverlay,
} from 'react-aria-components';
import { useLocation } from 'wouter';
import type { Problem } from '../network/problem.ts';
import { Action, Form, type FormValues, Refusal } from './form.tsx';

interface DialogProps {
  /** The words of the button that opens it. */
  opener: string;
  kind?: 'primary' | 'plain' | 'danger' | 'quiet';
  title: string;
  /** For what has long lines. */
  isWide?: boolean;
  children: (close: () => void) => ReactNode;
}

export function Dialog({ opener, kind = 'plain', title, isWide, children }: DialogProps) {
  return (
    <DialogTrigger>
      <Action kind={kind}>{opener}</Action>
      <ModalOverlay className="overlay" isDismissable>
        <Modal className={isWide ? 'modal wide' : 'modal'}>
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

interface FormDialogProps {
  opener: string;
  kind?: DialogProps['kind'];
  title: string;
  /** The word of the button that does it. */
  submit: string;
  /** What is done: it may be running, or refused. */
  change: Doing;
  /** Inputs whose refusals are shown beside them. */
  shown?: readonly string[];
  /** Resolves with null if it was refused; else the dialog closes, unless `made` is shown. */
  onSubmit: (values: FormValues) => Promise<unknown>;
  /** A secret that was made, which is shown once, in the place of the form. */
  made?: { about: string; value: string; label: string } | '' | null;
  onClose?: () => void;
  children: ReactNode;
}

/** A form in front of the page, which closes when it is done. */
export function FormDialog({ opener, kind = 'plain', title, ...form }: FormDialogProps) {
  return (
    <Dialog opener={opener} kind={kind} title={title}>
      {(close) => <DialogForm {...form} kind={kind} close={close} />}
    </Dialog>
  );
}

interface DialogFormProps extends Omit<FormDialogProps, 'opener' | 'title'> {
  close: () => void;
}

function DialogForm({ submit, change, shown = [], made, close, ...props }: DialogFormProps) {
  const { kind, onSubmit, onClose, children } = props;
  const showsMade = made !== undefined;
  const leave = () => {
    onClose?.();
    close();
  };
  if (made) {
    return (
      <>
        <p>{made.about}</p>
        <Secret value={made.value} label={made.label} />
        <div className="row end">
          <Action kind="primary" onPress={leave}>
            Done
          </Action>
        </div>
      </>
    );
  }
  return (
    <Form
      problem={change.problem}
      onSubmit={async (values) => {
        // What was made takes the place of the form: then the reader closes it.
        if ((await onSubmit(values)) !== null && !showsMade) close();
      }}
    >
      {children}
      <Refusal problem={change.problem} shown={shown} />
      <div className="row end">
        <Action onPress={leave}>Cancel</Action>
        <Action
          type="submit"
          kind={kind === 'danger' ? 'danger' : 'primary'}
          isPending={change.isRunning}
        >
          {submit}
        </Action>
      </div>
    </Form>
  );
}

/** A change that may be running, or refused: what useChange gives. */
export interface Doing {
  isRunning: boolean;
  problem: Problem | null;
}

interface ConfirmProps {
  opener: string;
  title: string;
  /** What it would break. */
  children: ReactNode;
  change: Doing;
  /** Resolves with null if it was refused. */
  onConfirm: () => Promise<unknown>;
  /** The place to go to if it was not: this one is about what is gone. */
  leadsTo?: string;
}

export function Confirm({ opener, title, children, change, onConfirm, leadsTo }: ConfirmProps) {
  const [, navigate] = useLocation();
  return (
    <Dialog opener={opener} kind="danger" title={title}>
      {(close) => (
        <>
          {children}
          <Refusal problem={change.problem} />
          <div className="row end">
            <Action onPress={close}>Cancel</Action>
            <Action
              kind="danger"
              isPending={change.isRunning}
              onPress={async () => {
                if ((await onConfirm()) === null) return;
                close();
                if (leadsTo) navigate(leadsTo);
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
