import { LeaveGuard } from '../../components/LeaveGuard.tsx'

export function UnsavedGuard({ isUnsaved }: { readonly isUnsaved: boolean }) {
  return (
    <LeaveGuard isOn={isUnsaved} title="Sair sem salvar?" confirmText="Sair sem salvar">
      O que você mudou neste prompt ainda não foi salvo e se perde ao sair.
    </LeaveGuard>
  )
}
