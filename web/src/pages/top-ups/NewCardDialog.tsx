import { Dialog } from '../../components/Dialog.tsx'
import { NewCardForm } from './NewCardForm.tsx'

interface Props {
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function NewCardDialog({ isOpen, onClose }: Props) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title="Novo cartão"
      description="O número e o código de segurança seguem para o processador de pagamentos. A Catraca não os guarda."
    >
      <NewCardForm onClose={onClose} />
    </Dialog>
  )
}
