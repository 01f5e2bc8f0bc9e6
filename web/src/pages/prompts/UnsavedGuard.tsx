import { useBlocker } from '@tanstack/react-router'
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'

/** Asks before the user leaves the page with unsaved edits; the browser asks when the tab is closed. */
export function UnsavedGuard({ isUnsaved }: { readonly isUnsaved: boolean }) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => isUnsaved && current.pathname !== next.pathname,
    enableBeforeUnload: () => isUnsaved,
    withResolver: true,
  })
  return (
    <ConfirmDialog
      isOpen={blocker.status === 'blocked'}
      onClose={() => blocker.reset?.()}
      onConfirm={() => blocker.proceed?.()}
      title="Sair sem salvar?"
      confirmText="Sair sem salvar"
    >
      <p className="text-sm text-muted">
        O que você mudou neste prompt ainda não foi salvo e se perde ao sair.
      </p>
    </ConfirmDialog>
  )
}
