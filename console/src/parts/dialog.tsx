/** Dialogs: a form in front of the page, and a confirmation before a change that can't be undone. */
import { type ReactNode, useState } from 'react';
import {
  Dialog as AriaDialog,
  DialogTrigger,
  Heading,
  Modal,
  ModalOverlay,
} from 'react-aria-components';
import type { GraphQLTaggedNode, MutationParameters } from 'relay-runtime';
import { useLocation } from 'wouter';
import type { Problem } from '../network/problem.ts';
import { ChangeForm, type ChangeFormProps } from './change-form.tsx';
import { CopyButton } from './copy.tsx';
import { Action, Refusal } from './form.tsx';
import { type ChangeResponse, useChange } from './queries.ts';

interface DialogProps {
  /** The label of the button that opens the dialog. */
  triggerLabel: string;
  kind?: 'primary' | 'plain' | 'danger' | 'quiet';
  title: string;
  /** True for content with long lines. */
  isWide?: boolean;
  children: (close: () => void) => ReactNode;
}

export function Dialog({ triggerLabel, kind = 'plain', title, isWide, children }: DialogProps) {
  return (
    <DialogTrigger>
      <Action kind={kind}>{triggerLabel}</Action>
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

interface FormDialogProps<Mutation extends MutationParameters>
  extends Omit<ChangeFormProps<Mutation>, 'kind' | 'clears' | 'onCancel'> {
  triggerLabel: string;
  kind?: 'primary' | 'plain' | 'danger';
  title: string;
  /**
   * Replaces the form after success, until the user closes the dialog. If omitted, the dialog closes
   * immediately.
   */
  renderResult?: (response: ChangeResponse<Mutation>) => ReactNode;
}

/** A dialog with a form for one mutation. */
export function FormDialog<Mutation extends MutationParameters>(props: FormDialogProps<Mutation>) {
  const { triggerLabel, kind = 'plain', title, renderResult, ...form } = props;
  return (
    <Dialog triggerLabel={triggerLabel} kind={kind} title={title}>
      {(close) => <DialogForm {...form} kind={kind} renderResult={renderResult} close={close} />}
    </Dialog>
  );
}

interface DialogFormProps<Mutation extends MutationParameters> extends ChangeFormProps<Mutation> {
  renderResult: FormDialogProps<Mutation>['renderResult'];
  close: () => void;
}

function DialogForm<Mutation extends MutationParameters>(props: DialogFormProps<Mutation>) {
  const { renderResult, close, kind, onDone, ...form } = props;
  const [result, setResult] = useState<ReactNode>(null);
  if (result) {
    return (
      <>
        {result}
        <div className="row end">
          <Action kind="primary" onPress={close}>
            Done
          </Action>
        </div>
      </>
    );
  }
  const finish = (response: ChangeResponse<Mutation>) => {
    onDone?.(response);
    const next = renderResult?.(response);
    if (next) setResult(next);
    else close();
  };
  return (
    <ChangeForm<Mutation>
      {...form}
      kind={kind === 'danger' ? 'danger' : 'primary'}
      onDone={finish}
      onCancel={close}
    />
  );
}

/** The state of a mutation: the result of `useChange`. */
export interface ChangeState {
  isRunning: boolean;
  problem: Problem | null;
}

interface ConfirmProps {
  triggerLabel: string;
  kind?: 'primary' | 'danger';
  title: string;
  /** The label of the button that closes the dialog without the change. */
  cancel?: string;
  /** The consequences of the change. */
  children: ReactNode;
  change: ChangeState;
  /** Resolves with null if the change was refused. */
  onConfirm: () => Promise<unknown>;
  /** The path to open after success. Set it if the current page shows the deleted object. */
  leadsTo?: string;
}

export function Confirm(props: ConfirmProps) {
  const { triggerLabel, kind = 'danger', title, cancel = 'Cancel', children } = props;
  const { change, onConfirm, leadsTo } = props;
  const [, navigate] = useLocation();
  return (
    <Dialog triggerLabel={triggerLabel} kind={kind} title={title}>
      {(close) => (
        <>
          {children}
          <Refusal problem={change.problem} />
          <div className="row end">
            <Action onPress={close}>{cancel}</Action>
            <Action
              kind={kind}
              isPending={change.isRunning}
              onPress={async () => {
                if ((await onConfirm()) === null) return;
                close();
                if (leadsTo) navigate(leadsTo);
              }}
            >
              {triggerLabel}
            </Action>
          </div>
        </>
      )}
    </Dialog>
  );
}

type ConfirmChangeProps<Mutation extends MutationParameters> = Omit<
  ConfirmProps,
  'change' | 'onConfirm'
> & {
  mutation: GraphQLTaggedNode;
  variables: Mutation['variables'];
};

/** A dialog that asks for confirmation before one mutation. */
export function ConfirmChange<Mutation extends MutationParameters>(
  props: ConfirmChangeProps<Mutation>,
) {
  const { mutation, variables, ...question } = props;
  const change = useChange<Mutation>(mutation);
  return <Confirm {...question} change={change} onConfirm={() => change.run(variables)} />;
}

interface CopyableValueProps {
  explanation: ReactNode;
  value: string;
  label: string;
}

/** A secret or URL, with a button that copies it. */
export function CopyableValue({ explanation, value, label }: CopyableValueProps) {
  return (
    <>
      <p>{explanation}</p>
      <div className="secret">
        <code data-label={label}>{value}</code>
        <CopyButton value={value} label={label} />
      </div>
    </>
  );
}
