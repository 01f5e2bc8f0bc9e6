import { Dialog } from '../../components/Dialog.tsx'
import { NewCardForm } from './NewCardForm.tsx'
import { t } from '../../language/t.ts'

interface Props {
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function NewCardDialog({ isOpen, onClose }: Props) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={t('Novo cartão')}
      description={t(
        'O número e o código de segurança seguem para o processador de pagamentos. A Catraca não os guarda.',
      )}
    >
      <NewCardForm onClose={onClose} />
    </Dialog>
  )
}
