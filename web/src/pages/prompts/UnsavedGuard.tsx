import { LeaveGuard } from '../../components/LeaveGuard.tsx'
import { t } from '../../language/t.ts'

export function UnsavedGuard({ isUnsaved }: { readonly isUnsaved: boolean }) {
  return (
    <LeaveGuard isOn={isUnsaved} title={t('Sair sem salvar?')} confirmText={t('Sair sem salvar')}>
      {t('O que você mudou neste prompt ainda não foi salvo e se perde ao sair.')}
    </LeaveGuard>
  )
}
