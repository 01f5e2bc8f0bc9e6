import type { WriteDocument } from './legal-document.ts'

export const privacyPolicy20261123: WriteDocument = ({ name, contactEmail }) => ({
  title: 'Política de privacidade',
  sections: [
    {
      title: '1. Quem trata os seus dados',
      paragraphs: [
        `${name} é a controladora dos dados da sua conta (Lei 13.709/2018, LGPD). Canal do titular e do encarregado: ${contactEmail}.`,
        'Quando você envia dados de outras pessoas em chamadas a modelos, o controlador desses dados é você, e nós os tratamos como operadora, só para atender a chamada.',
      ],
    },
    {
      title: '2. Que dados, e para quê',
      paragraphs: [
        'Cadastro (nome, e-mail, CPF ou CNPJ, telefone e endereço, se informados): para executar o contrato, cobrar e cumprir obrigações fiscais.',
        'Pagamentos: o processador de pagamentos recebe os dados da cobrança. O número do cartão não fica conosco; guardamos a bandeira, os quatro últimos dígitos, o nome do titular e a validade.',
        'Uso: modelo, horário, chave, quantidades (tokens, segundos, imagens), custo, endereço IP e registros de acesso: para cobrar, prestar contas, evitar fraudes e cumprir o Marco Civil da Internet (Lei 12.965/2014, art. 15).',
        'O conteúdo de conversas, imagens e áudios enviado aos modelos não é guardado por nós depois da resposta, nem usado para treinar modelos por nós. São exceções o que você mesmo salva (prompts), as respostas que você pedir no Perfil que sejam guardadas, cifradas e por até 30 dias, e as imagens geradas que a resposta entrega por link, que ficam disponíveis por pouco tempo.',
        'O painel usa apenas cookies necessários para entrar e proteger a conta.',
      ],
    },
    {
      title: '3. Para onde vai o conteúdo: transferência internacional',
      paragraphs: [
        'Para responder, o conteúdo de cada chamada é enviado ao provedor do modelo que você escolheu, e a outros provedores do mesmo modelo se o primeiro falhar. Muitos deles ficam fora do Brasil, principalmente nos Estados Unidos, na União Europeia e na Ásia. O catálogo mostra quem faz cada modelo.',
        'A finalidade é executar o contrato a seu pedido. Cada provedor trata o conteúdo conforme as próprias regras e pode guardá-lo por um prazo para evitar abusos. As transferências seguem a LGPD (arts. 33 a 36) e a Resolução CD/ANPD 19/2024; as cláusulas aplicáveis são fornecidas a pedido em até 15 dias, pelo contato acima.',
        'Não envie dados pessoais sensíveis ou segredos de que o modelo não precisa.',
      ],
    },
    {
      title: '4. Por quanto tempo',
      paragraphs: [
        'Dados da conta ficam enquanto ela existe. Depois da exclusão, apagamos os dados pessoais e conservamos, sem o seu nome, os registros de cobranças e de atos que a lei manda guardar. Registros de acesso ficam por ao menos seis meses, e registros fiscais por ao menos cinco anos.',
      ],
    },
    {
      title: '5. Seus direitos',
      paragraphs: [
        'No painel você vê e corrige os seus dados, baixa uma cópia completa e exclui a conta (LGPD, art. 18). Outros pedidos, como informação sobre compartilhamento: pelo contato acima, com resposta em até 15 dias. Você também pode reclamar à ANPD.',
      ],
    },
    {
      title: '6. Segurança e menores de idade',
      paragraphs: [
        'Senhas e chaves são guardadas só como resumos criptográficos, e segredos são cifrados. Incidentes que possam causar risco ou dano relevante são comunicados à ANPD e a você.',
        'O serviço não é dirigido a menores de 18 anos, e não tratamos conscientemente dados deles como clientes (Lei 15.211/2025).',
      ],
    },
  ],
})
